import 'reflect-metadata';
import { Query } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';

/** The query of an operation without parameters: every parameter is refused as unknown. */
export class NoQuery {}

/**
 * Gives a handler without a query an empty one as its last parameter, so that unknown parameters are refused. Apply it after
 * the decorators of the handler's parameters.
 */
export function declareNoQuery(prototype: object, method: string | symbol): void {
  if (takesQuery(prototype, method)) return;
  const types = (Reflect.getMetadata('design:paramtypes', prototype, method) ?? []) as object[];
  Query()(prototype, method, types.length);
  Reflect.defineMetadata('design:paramtypes', [...types, NoQuery], prototype, method);
}

/** True if a parameter of the handler receives the query. */
export function takesQuery(prototype: object, method: string | symbol): boolean {
  const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, prototype.constructor, method) ?? {}) as object;
  return Object.keys(parameters).some((key) => key.startsWith(`${RouteParamtypes.QUERY}:`));
}
