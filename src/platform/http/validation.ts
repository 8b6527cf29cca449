import { type ArgumentMetadata, type Type, ValidationPipe, type ValidationError } from '@nestjs/common';
import { invalid } from '../errors/domain-error';
import { JSON_BOUNDS } from './bodies/parse-json';
import { Problems, shownName } from './bodies/problems';
import { knownFields } from './field-shapes';

function collect(errors: readonly ValidationError[], path: string, problems: Problems): void {
  for (const error of errors) {
    if (problems.isFull) return;
    const field = path ? `${path}.${error.property}` : error.property;
    const texts = Object.values(error.constraints ?? {});
    if (texts.length > 0) problems.add(field, texts);
    collect(error.children ?? [], field, problems);
  }
}

/** Bodies and queries become instances of their classes; unknown fields and wrong types are a 400 that names them. */
export function createValidationPipe(): ValidationPipe {
  return new StrictValidationPipe({
    transform: true,
    forbidUnknownValues: false,
    validationError: { target: false, value: false },
    exceptionFactory: (errors) => {
      const problems = new Problems();
      collect(errors, '', problems);
      return problems.error();
    },
  });
}

/** Keys that the pipe removes for fear of prototypes. */
const REMOVED_KEYS: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** Validates in time that grows with the size of a request alone: what nobody asked for is refused before it is looked at. */
class StrictValidationPipe extends ValidationPipe {
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { metatype } = metadata;
    if (typeof value !== 'object' || value === null || !metatype || !this.toValidate(metadata)) {
      return super.transform(value, metadata);
    }
    assertUsable(value);
    if (Array.isArray(value)) throw invalid('REQUEST.INVALID', 'The request is not valid: it must be an object.');
    return super.transform(knownFields(metatype as Type<object>, value), metadata);
  }

  /** What is left has none. */
  protected override stripProtoKeys(): void {}
}

/**
 * Refuses what would be removed in silence, a label of that name say, what is nested too deep for what calls itself for each
 * level, and texts that are no Unicode: the database takes them for another text or, in a JSON column, not at all.
 */
function assertUsable(request: object): void {
  const pending: { values: object; level: number; of: string }[] = [{ values: request, level: 0, of: 'The request' }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { values, level, of } = next;
    if (level > JSON_BOUNDS.levels) {
      throw invalid('REQUEST.INVALID', `The request is nested deeper than ${JSON_BOUNDS.levels} levels.`);
    }
    const isList = Array.isArray(values);
    for (const key of Object.keys(values)) {
      const value = (values as Record<string, unknown>)[key];
      if (!isList) assertKey(key);
      const name = isList ? of : key;
      if (typeof value === 'string') assertUnicode(value, name);
      else if (typeof value === 'object' && value !== null) pending.push({ values: value, level: level + 1, of: name });
    }
  }
}

function assertKey(key: string): void {
  if (REMOVED_KEYS.includes(key)) {
    throw invalid('REQUEST.INVALID', `The request is not valid: no key may be called ${key}.`, { key });
  }
  assertUnicode(key, 'A key');
}

/** Half of a surrogate pair without the other one: JSON can spell it, UTF-8 cannot, so that nothing can store it. */
function assertUnicode(text: string, of: string): void {
  if (text.isWellFormed()) return;
  throw invalid('REQUEST.INVALID_TEXT', `${shownName(of)} holds half of a surrogate pair, which is no character.`);
}
