import { invalid } from '../../../platform/kernel/errors/domain-error';

/** What stands in a full name as it is; any other name is in backticks, and one of its own is doubled. */
const PLAIN_NAME = /^[\p{L}\p{N}_$-]+$/u;
const PART = /`((?:[^`]|``)*)`|[^.`]+/y;

/** The names of catalog, schema and table, as far as there are, joined by dots, such as ``sales.`order.lines` ``. */
export function fullName(...parts: (string | null)[]): string {
  return parts
    .filter((part) => part !== null)
    .map((part) => (PLAIN_NAME.test(part) ? part : `\`${part.replaceAll('`', '``')}\``))
    .join('.');
}

/** The parts of such a name; throws a 400 for what is none. Names without backticks may hold anything but dots. */
export function partsOf(name: string): string[] {
  const parts: string[] = [];
  PART.lastIndex = 0;
  for (let at = 0; ; at = PART.lastIndex + 1) {
    PART.lastIndex = at;
    const found = PART.exec(name);
    const part = found?.[1]?.replaceAll('``', '`') ?? found?.[0];
    if (!part || found?.[1] === '') throw notAName(name);
    parts.push(part);
    if (PART.lastIndex === name.length) return parts;
    if (name[PART.lastIndex] !== '.') throw notAName(name);
  }
}

function notAName(name: string): Error {
  return invalid(
    'METASTORE.INVALID_NAME',
    `"${name}" is not a full name, such as schema.table; backticks quote a part.`,
  );
}
