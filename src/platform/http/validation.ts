import { type ArgumentMetadata, type Type, ValidationPipe, type ValidationError } from '@nestjs/common';
import { invalid } from '../kernel/errors/domain-error';
import { contentsOf } from '../../../libs/json/strict-json';
import { Problems, unusable } from '../kernel/dto/problems';
import { knownFields } from '../kernel/dto/field-shapes';
import { NoQuery } from './no-query';

/** If one of these rules is broken, the field's other rules are not reported: they say nothing about a value of the wrong type. */
const TYPE_RULES = ['isInt', 'isString', 'isNumber', 'isBoolean', 'isArray', 'isObject'];

function problemsOf({ value, constraints = {} }: ValidationError, field: string): string[] {
  // A missing value breaks every rule of its field, so only that it is required is reported.
  if (value === undefined) return [`${field} is required`];
  const ofType = TYPE_RULES.flatMap((rule) => constraints[rule] ?? []);
  return ofType.length > 0 ? ofType : Object.values(constraints);
}

function collect(errors: readonly ValidationError[], path: string, problems: Problems): void {
  for (const error of errors) {
    if (problems.isFull) return;
    const field = path ? `${path}.${error.property}` : error.property;
    const texts = problemsOf(error, field);
    if (texts.length > 0) problems.add(field, texts);
    collect(error.children ?? [], field, problems);
  }
}

/** Bodies and queries become instances of their classes; unknown fields and wrong types are a 400 that names them. */
export function createValidationPipe(): ValidationPipe {
  return new StrictValidationPipe({
    transform: true,
    forbidUnknownValues: false,
    validationError: { target: false },
    exceptionFactory: (errors) => {
      const problems = new Problems();
      collect(errors, '', problems);
      return problems.error();
    },
  });
}

/**
 * Validates in time that grows only with the size of a request: unknown fields are refused before they are looked at.
 */
class StrictValidationPipe extends ValidationPipe {
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { metatype } = metadata;
    if (typeof value !== 'object' || value === null || !metatype || !this.toValidate(metadata)) {
      return super.transform(value, metadata);
    }
    // For a body it is known from parsing.
    const contents = metadata.type === 'body' ? null : contentsOf(value);
    if (contents && 'unusable' in contents) throw unusable(contents.unusable);
    if (Array.isArray(value)) throw invalid('REQUEST.INVALID', 'The request is not valid: it must be an object.');
    const known = knownFields(metatype as Type<object>, value);
    return metatype === NoQuery ? known : super.transform(known, metadata);
  }

  /** What is left has none. */
  protected override stripProtoKeys(): void {}
}

const pipe = createValidationPipe();

/** An instance of the class made of a part of a request that its own class takes unread; throws the same 400. */
export async function validated<T extends object>(type: Type<T>, value: unknown): Promise<T> {
  if (typeof value !== 'object' || value === null) throw invalid('REQUEST.INVALID', 'It must be an object.');
  return (await pipe.transform(value, { type: 'body', metatype: type })) as T;
}
