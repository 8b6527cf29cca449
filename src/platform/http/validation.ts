import { type ArgumentMetadata, type Type, ValidationPipe, type ValidationError } from '@nestjs/common';
import { invalid } from '../kernel/errors/domain-error';
import { contentsOf } from '../../../libs/json/strict-json';
import { Problems, unusable } from '../kernel/dto/problems';
import { knownFields } from '../kernel/dto/field-shapes';
import { NoQuery } from './no-query';

/** If a value breaks one of these rules, the field's other rules are not reported, because they assume the right type. */
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

/** The pipe converts bodies and queries to instances of their classes. Unknown and invalid fields are a 400 that names them. */
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

/** Validates in time that is linear in the size of a request, because unknown fields are refused without being validated. */
class StrictValidationPipe extends ValidationPipe {
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { metatype } = metadata;
    if (typeof value !== 'object' || value === null || !metatype || !this.toValidate(metadata)) {
      return super.transform(value, metadata);
    }
    // The JSON parser has already checked a body.
    const contents = metadata.type === 'body' ? null : contentsOf(value);
    if (contents && 'unusable' in contents) throw unusable(contents.unusable);
    if (Array.isArray(value)) throw invalid('REQUEST.INVALID', 'The request is not valid: it must be a JSON object.');
    const known = knownFields(metatype as Type<object>, value);
    return metatype === NoQuery ? known : super.transform(known, metadata);
  }

  /** Does nothing, because the copy of the known fields has no such keys. */
  protected override stripProtoKeys(): void {}
}

const pipe = createValidationPipe();

/** Validates an item of a `Field.unreadObjects` and converts it to an instance of its class. Throws the same 400 as the pipe. */
export async function validated<T extends object>(type: Type<T>, value: unknown): Promise<T> {
  if (typeof value !== 'object' || value === null) throw invalid('REQUEST.INVALID', 'The item must be a JSON object.');
  return (await pipe.transform(value, { type: 'body', metatype: type })) as T;
}
