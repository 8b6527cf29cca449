import { createHash } from 'node:crypto';
import { HIDDEN, namesSecret, withoutSecretsInText } from '../../../../libs/redaction/redaction';
import { storable } from './audit-subject';

/** A field of a record before and after a request, as text. Secrets are hidden, and long values are cut. */
export interface FieldChange {
  /** Name of the field; a dot leads into a map: `labels.team`. */
  field: string;
  /** Null if the field had no value. */
  before: string | null;
  /** Null if the field has no value. */
  after: string | null;
}

type Row = Readonly<Record<string, unknown>>;

/** Longer texts, and those of several lines, are programs and files: only their size and hash are recorded. */
const MAX_READ_LENGTH = 1_000;
const MAX_TEXT_LENGTH = 200;
const MAX_FIELD_LENGTH = 128;
/** So many characters before the first difference are shown if the beginning of a text is cut. */
const CONTEXT_LENGTH = 40;
const HASH_LENGTH = 8;

/** An entry of a list of properties: `key=value`. */
const PROPERTY = /^[^\s="']+(?==)/;

/**
 * Returns the fields whose values differ. Maps, and lists of `key=value`, are compared key by key. Rows are as the database
 * returns them, so that equal values have equal texts.
 */
export function changedFields(before: Row, after: Row): FieldChange[] {
  const old = leavesOf(before);
  const now = leavesOf(after);
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((field) => {
    const [was, is] = [old.get(field), now.get(field)];
    return JSON.stringify(was) === JSON.stringify(is) ? [] : [changeOf(field, was, is)];
  });
}

/** Returns the change of a field whose value must not be read. */
export function hiddenChange(field: string): FieldChange {
  return { field, before: HIDDEN, after: HIDDEN };
}

function changeOf(field: string, was: unknown, is: unknown): FieldChange {
  const [before, after] = [textOf(field, was), textOf(field, is)];
  const from = Math.max(0, commonLength(before ?? '', after ?? '') - CONTEXT_LENGTH);
  const start = [before, after].some((text) => text !== null && text.length > MAX_TEXT_LENGTH) ? from : 0;
  return {
    field: storable(field, MAX_FIELD_LENGTH),
    before: before && excerpt(before, start),
    after: after && excerpt(after, start),
  };
}

/** Returns the values of a row by their paths. A map that names a secret is one value. */
function leavesOf(row: Row): Map<string, unknown> {
  const leaves = new Map<string, unknown>();
  const add = (path: string, value: unknown): void => {
    const entries = isSecret(path, value) ? null : entriesOf(value);
    if (!entries) {
      if (valueOf(value) !== null) leaves.set(path, valueOf(value));
      return;
    }
    for (const [key, entry] of entries) add(`${path}.${key}`, entry);
  };
  for (const [column, value] of Object.entries(row)) add(column, value);
  return leaves;
}

/** Returns the entries of a map or of a list of properties with different keys; null for other values. */
function entriesOf(value: unknown): [string, unknown][] | null {
  if (typeof value !== 'object' || value === null || value instanceof Date) return null;
  if (!Array.isArray(value)) return Object.entries(value);
  const entries = value.flatMap((item: unknown): [string, unknown][] => {
    const key = typeof item === 'string' ? PROPERTY.exec(item)?.[0] : undefined;
    return key === undefined ? [] : [[key, String(item).slice(key.length + 1)]];
  });
  const isOfProperties =
    entries.length === value.length && new Set(entries.map(([key]) => key)).size === entries.length;
  return isOfProperties ? entries : null;
}

/** Converts a time to the text that responses have, and the end of a current record to null. */
function valueOf(value: unknown): unknown {
  if (value === undefined || value === Infinity) return null;
  return value instanceof Date ? value.toISOString() : value;
}

function textOf(path: string, value: unknown): string | null {
  if (value === undefined) return null;
  if (isSecret(path, value)) return HIDDEN;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const lines = text.split('\n').length;
  if (lines === 1 && text.length <= MAX_READ_LENGTH) return withoutSecretsInText(text);
  const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);
  return `${lines} ${lines === 1 ? 'line' : 'lines'}, ${text.length} characters, SHA-256 ${hash}…`;
}

/** True if the name means a secret, and for bytes, which are sealed. The id of a record with credentials is none, nor is yes or no. */
function isSecret(path: string, value: unknown): boolean {
  if (value instanceof Uint8Array) return true;
  if (typeof value === 'boolean' || (typeof value === 'number' && path.endsWith('_id'))) return false;
  return namesSecret(path);
}

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

function excerpt(text: string, start: number): string {
  const cut = storable(text.slice(start), MAX_TEXT_LENGTH);
  return `${start > 0 ? '…' : ''}${cut}${text.length > start + MAX_TEXT_LENGTH ? '…' : ''}`;
}
