import type { Column, SqlValue } from 'managed-spark/sql';

const NUMERIC = new Set(['TINYINT', 'SMALLINT', 'INT', 'BIGINT', 'FLOAT', 'DOUBLE', 'DECIMAL']);

/** True for types whose values are numbers, which stand at the right. */
export function isNumeric({ type }: Column): boolean {
  return NUMERIC.has(type);
}

/** Returns a value as text, with all its digits; null for NULL. */
export function textOfValue(value: SqlValue): string | null {
  if (value === null) return null;
  if (value instanceof Uint8Array) return `0x${[...value].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  return String(value);
}

/** Returns rows as lines of tab-separated cells, which spreadsheets paste into cells. NULL is an empty cell. */
export function tsvOf(rows: readonly (readonly SqlValue[])[]): string {
  return rows
    .map((row) => row.map((value) => (textOfValue(value) ?? '').replaceAll(/[\t\r\n]+/g, ' ')).join('\t'))
    .join('\n');
}

/** Returns rows as lines of RFC 4180. NULL is an empty field, and an empty text a quoted one. */
export function csvOf(columns: readonly Column[], rows: readonly (readonly SqlValue[])[]): string {
  const areNumbers = columns.map(isNumeric);
  const lines = rows.map((row) => row.map((value, index) => csvField(value, areNumbers[index] ?? false)).join(','));
  return lines.map((line) => `${line}\r\n`).join('');
}

export function csvHead(columns: readonly Column[]): string {
  return `${columns.map(({ name }) => csvField(name, false)).join(',')}\r\n`;
}

function csvField(value: SqlValue, isNumber: boolean): string {
  const text = textOfValue(value);
  if (text === null) return '';
  const safe = isNumber ? text : withoutFormula(text);
  return text === '' || /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A spreadsheet would calculate a text that begins like a formula, so it gets the apostrophe that says it is text. */
function withoutFormula(text: string): string {
  return /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/.test(text) ? `'${text}` : text;
}
