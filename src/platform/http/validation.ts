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
  const pending: { value: unknown; level: number; of: string }[] = [{ value: request, level: 0, of: 'The request' }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value, level, of } = next;
    // Half of a surrogate pair without the other one: JSON can spell it, UTF-8 cannot, so that nothing can store it.
    if (typeof value === 'string') assertUnicode(value, of);
    if (typeof value !== 'object' || value === null) continue;
    if (level > JSON_BOUNDS.levels) {
      throw invalid('REQUEST.INVALID', `The request is nested deeper than ${JSON_BOUNDS.levels} levels.`);
    }
    for (const [key, inner] of Object.entries(value)) {
      if (REMOVED_KEYS.includes(key)) {
        throw invalid('REQUEST.INVALID', `The request is not valid: no key may be called ${key}.`, { key });
      }
      assertUnicode(key, 'A key');
      pending.push({ value: inner, level: level + 1, of: Array.isArray(value) ? of : key });
    }
  }
}

function assertUnicode(text: string, of: string): void {
  if (text.isWellFormed()) return;
  throw invalid('REQUEST.INVALID_TEXT', `${shownName(of)} holds half of a surrogate pair, which is no character.`);
}
