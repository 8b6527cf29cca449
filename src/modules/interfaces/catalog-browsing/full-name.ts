import { invalid } from '../../../platform/kernel/errors/domain-error';

/** Names that need no quotes in a full name. Others are quoted with backticks, and backticks in them are doubled. */
const PLAIN_NAME = /^[\p{L}\p{N}_$-]+$/u;
const PART = /`((?:[^`]|``)*)`|[^.`]+/y;

/** Joins the names of catalog, schema and table by dots, without null ones, such as ``sales.`order.lines` ``. */
export function fullName(...parts: (string | null)[]): string {
  return parts
    .filter((part) => part !== null)
    .map((part) => (PLAIN_NAME.test(part) ? part : `\`${part.replaceAll('`', '``')}\``))
    .join('.');
}

/** Splits a full name; throws a 400 if it is invalid. Unquoted parts may contain anything but dots and backticks. */
export function partsOf(name: string): string[] {
  const parts: string[] = [];
  PART.lastIndex = 0;
  for (let at = 0; ; at = PART.lastIndex + 1) {
    PART.lastIndex = at;
    const found = PART.exec(name);
    const part = found?.[1]?.replaceAll('``', '`') ?? found?.[0];
    if (!part || found?.[1] === '') throw invalidName(name);
    parts.push(part);
    if (PART.lastIndex === name.length) return parts;
    if (name[PART.lastIndex] !== '.') throw invalidName(name);
  }
}

function invalidName(name: string): Error {
  return invalid(
    'METASTORE.INVALID_NAME',
    `"${name}" is not a full name such as schema.table. Quote parts with special characters in backticks.`,
  );
}
