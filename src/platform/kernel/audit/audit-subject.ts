import type { AuditSubject } from './audit-draft';

const NAMES_A_RECORD = /(^|_)(id|name|username|path|dir)$/;
/** The author of a record is the actor of its own events, and `is_dir` is not a directory. */
const NAMES_NONE: ReadonlySet<string> = new Set(['created_by_user_id', 'modified_by_user_id', 'is_dir']);
const ID = /(^|_)id$/;
const MAX_KEYS = 24;
const MAX_KEY_LENGTH = 64;
const MAX_TEXT_LENGTH = 256;

/**
 * Returns the ids and names of records in path parameters, a query or a response. A response may wrap its record under a
 * single key (`{CosiStart: {…}}`). Other values are left out, because they may be long or secret.
 */
export function subjectOf(...sources: unknown[]): AuditSubject {
  const entries = sources.flatMap((source) => namingEntries(unwrapped(source)));
  return Object.fromEntries(entries.slice(0, MAX_KEYS));
}

function namingEntries(source: unknown): [string, string | number][] {
  if (!isRecord(source)) return [];
  return Object.entries(source).flatMap(([key, value]): [string, string | number][] => {
    if (key.length > MAX_KEY_LENGTH || !NAMES_A_RECORD.test(key) || NAMES_NONE.has(key)) return [];
    if (typeof value === 'number') return [[key, value]];
    if (typeof value !== 'string') return [];
    return [[storable(key, MAX_KEY_LENGTH), ID.test(key) && isInteger(value) ? Number(value) : storable(value)]];
  });
}

function unwrapped(source: unknown): unknown {
  if (!isRecord(source)) return source;
  const values = Object.values(source);
  return values.length === 1 && isRecord(values[0]) ? values[0] : source;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Ids are numbers or decimal strings in requests and responses, but always numbers in the audit log. */
function isInteger(text: string): boolean {
  return /^\d{1,15}$/.test(text);
}

/** Converts any text to one that PostgreSQL accepts, so that an operation never fails because of its audit row. */
export function storable(text: string, maxLength: number = MAX_TEXT_LENGTH): string {
  const cut = text.slice(0, maxLength).replaceAll('\0', '');
  // Half of a surrogate pair becomes U+FFFD on the way through UTF-8.
  return Buffer.from(cut, 'utf8').toString('utf8');
}
