import { ValidationPipe, type ValidationError } from '@nestjs/common';
import { invalid } from '../errors/domain-error';

function collect(errors: readonly ValidationError[], path: string, problems: Record<string, string[]>): void {
  for (const error of errors) {
    const field = path ? `${path}.${error.property}` : error.property;
    const texts = Object.entries(error.constraints ?? {}).map(([rule, text]) =>
      rule === 'whitelistValidation' ? `${field} is not a known field` : text,
    );
    if (texts.length > 0) problems[field] = texts;
    collect(error.children ?? [], field, problems);
  }
}

/** Bodies and queries become instances of their classes; unknown fields and wrong types are a 400 that names them. */
export function createValidationPipe(): ValidationPipe {
  return new StrictValidationPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: false,
    validationError: { target: false, value: false },
    exceptionFactory: (errors) => {
      const problems: Record<string, string[]> = {};
      collect(errors, '', problems);
      const sentence = Object.values(problems).flat().join('; ');
      return invalid('REQUEST.INVALID', `The request is not valid: ${sentence}.`, { fields: problems });
    },
  });
}

/** Keys that the pipe removes for fear of prototypes. */
const REMOVED_KEYS: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** More than any request needs; what converts and checks values calls itself for each level. */
const MAX_DEPTH = 100;

/** Half of a surrogate pair without the other one: JSON can spell it, UTF-8 cannot, so that nothing can store it. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Refuses what the pipe would remove in silence, a label of that name say, what is nested too deep for it, and texts that
 * are no Unicode: the database takes them for another text or, in a JSON column, not at all.
 */
class StrictValidationPipe extends ValidationPipe {
  protected override stripProtoKeys(value: unknown): void {
    const pending = [{ value, depth: 0, of: 'The request' }];
    for (let next = pending.pop(); next; next = pending.pop()) {
      const { value: current, depth, of } = next;
      if (typeof current === 'string') assertUnicode(current, of);
      if (typeof current !== 'object' || current === null || ArrayBuffer.isView(current)) continue;
      if (depth > MAX_DEPTH) throw invalid('REQUEST.INVALID', `The request is nested deeper than ${MAX_DEPTH} levels.`);
      for (const [key, inner] of Object.entries(current)) {
        if (REMOVED_KEYS.includes(key)) {
          throw invalid('REQUEST.INVALID', `The request is not valid: no key may be called ${key}.`, { key });
        }
        assertUnicode(key, 'A key');
        pending.push({ value: inner, depth: depth + 1, of: Array.isArray(current) ? of : key });
      }
    }
  }
}

function assertUnicode(text: string, of: string): void {
  if (!LONE_SURROGATE.test(text)) return;
  throw invalid('REQUEST.INVALID_TEXT', `${of} holds half of a surrogate pair, which is no character.`);
}
