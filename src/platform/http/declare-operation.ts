import 'reflect-metadata';
import { Operation } from './operation';
import { type OperationOptions } from './operation-options';

/** A parameter of a route's handler: what fills it, and the class by which it is validated and documented. */
export interface HandlerParameter {
  decorate: ParameterDecorator;
  type: object;
}

/** Declares a method of a class as a route, as decorators in its source would; for classes made by a function. */
export function declareOperation<T extends object>(
  prototype: T,
  method: keyof T & string,
  parameters: readonly HandlerParameter[],
  operation: OperationOptions,
): void {
  const descriptor = Object.getOwnPropertyDescriptor(prototype, method);
  if (!descriptor) throw new Error(`No method ${method}`);
  parameters.forEach(({ decorate }, index) => decorate(prototype, method, index));
  // What the compiler emits for a concrete class: the validation pipe and the OpenAPI document read it.
  const types = parameters.map(({ type }) => type);
  Reflect.defineMetadata('design:paramtypes', types, prototype, method);
  Operation(operation)(prototype, method, descriptor);
}
