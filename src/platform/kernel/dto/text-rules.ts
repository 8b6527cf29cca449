import { ValidateBy } from 'class-validator';

/**
 * Rules of class-validator, in time that does not depend on how far a request exceeds them: the originals count the
 * characters of whatever arrives, compare each item of a list with all before it, and match long texts that are refused
 * anyway.
 */

/** A character has at most this many UTF-16 units: a surrogate pair and a presentation selector. */
const UNITS_OF_CHARACTER = 3;

const isHigh = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;
const isPresentation = (unit: number) => unit === 0xfe0e || unit === 0xfe0f;

/** Characters of a text; the second of a surrogate pair and a presentation selector do not count. */
function lengthOf(text: string): number {
  let length = 0;
  let before = -1;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    const belongsToLast = isPresentation(unit) ? before >= 0 && !isPresentation(before) : isLow(unit) && isHigh(before);
    if (!belongsToLast) length += 1;
    before = unit;
  }
  return length;
}

function isShorter(text: string, max: number): boolean {
  if (text.length <= max) return true;
  return text.length <= max * UNITS_OF_CHARACTER && lengthOf(text) <= max;
}

function isLonger(text: string, min: number): boolean {
  return text.length >= min * UNITS_OF_CHARACTER || (text.length >= min && lengthOf(text) >= min);
}

interface Each {
  each?: boolean;
}

const prefix = ({ each = false }: Each) => (each ? 'each value in ' : '');

export function atMostCharacters(max: number, options: Each = {}): PropertyDecorator {
  return ValidateBy(
    {
      name: 'maxLength',
      validator: {
        validate: (value: unknown) => typeof value === 'string' && isShorter(value, max),
        defaultMessage: () => `${prefix(options)}$property must be shorter than or equal to ${max} characters`,
      },
    },
    options,
  );
}

export function atLeastCharacters(min: number, options: Each = {}): PropertyDecorator {
  return ValidateBy(
    {
      name: 'minLength',
      validator: {
        validate: (value: unknown) => typeof value === 'string' && isLonger(value, min),
        defaultMessage: () => `${prefix(options)}$property must be longer than or equal to ${min} characters`,
      },
    },
    options,
  );
}

/** A text that matches a pattern; one longer than `maxLength` characters is refused without matching. */
export function matching(
  pattern: RegExp,
  { maxLength, message, ...options }: Each & { maxLength?: number; message: string },
): PropertyDecorator {
  return ValidateBy(
    {
      name: 'matches',
      validator: {
        validate: (value: unknown) =>
          typeof value === 'string' &&
          ((maxLength !== undefined && value.length > maxLength * UNITS_OF_CHARACTER) || pattern.test(value)),
        defaultMessage: () => message,
      },
    },
    options,
  );
}

/** A list without the same item twice. */
export function uniqueItems(): PropertyDecorator {
  return ValidateBy({
    name: 'arrayUnique',
    validator: {
      validate: (value: unknown) => Array.isArray(value) && new Set(value).size === value.length,
      defaultMessage: () => "All $property's elements must be unique",
    },
  });
}
