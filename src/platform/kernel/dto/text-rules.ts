import { ValidateBy } from 'class-validator';
import { shownName } from './problems';

/**
 * These rules replace those of class-validator, whose time grows with the size of a request that exceeds them: the originals
 * count all characters of a text, compare each item of a list with all before it, and match long texts that are refused anyway.
 */

/** A character has at most three UTF-16 units: a surrogate pair and a presentation selector. */
const MAX_UNITS_PER_CHARACTER = 3;

const isHigh = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;
const isPresentation = (unit: number) => unit === 0xfe0e || unit === 0xfe0f;

/** Counts the characters of a text. The second half of a surrogate pair and a presentation selector do not count. */
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
  return text.length <= max * MAX_UNITS_PER_CHARACTER && lengthOf(text) <= max;
}

function isLonger(text: string, min: number): boolean {
  return text.length >= min * MAX_UNITS_PER_CHARACTER || (text.length >= min && lengthOf(text) >= min);
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
        defaultMessage: () => `${prefix(options)}$property must have at most ${max} characters`,
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
        defaultMessage: () => `${prefix(options)}$property must have at least ${min} characters`,
      },
    },
    options,
  );
}

/**
 * A text must match a pattern. The rule leaves a text longer than `maxLength` characters to the rule for its length.
 * `showsValue` ends the message with the text, which must not be a secret then.
 */
export function matching(
  pattern: RegExp,
  {
    maxLength,
    message,
    showsValue = false,
    ...options
  }: Each & { maxLength?: number; message: string; showsValue?: boolean },
): PropertyDecorator {
  return ValidateBy(
    {
      name: 'matches',
      validator: {
        validate: (value: unknown) =>
          typeof value === 'string' &&
          ((maxLength !== undefined && value.length > maxLength * MAX_UNITS_PER_CHARACTER) || pattern.test(value)),
        defaultMessage: (args) => (showsValue ? message + butNot(args?.value) : message),
      },
    },
    options,
  );
}

/** Returns the end of a message that names the value, without dollar signs, which begin placeholders of class-validator. */
function butNot(value: unknown): string {
  return typeof value === 'string' ? `, and not "${shownName(value).replaceAll('$', '')}"` : '';
}

/** A list must not have an item twice. */
export function uniqueItems(): PropertyDecorator {
  return ValidateBy({
    name: 'arrayUnique',
    validator: {
      validate: (value: unknown) => Array.isArray(value) && new Set(value).size === value.length,
      defaultMessage: () => '$property must not have duplicates',
    },
  });
}
