import { readUntrusted, SHORT_JSON } from '../json/parse-json';
import { ObjectStoreError } from './object-store';

/** Longest key that every provider accepts, in bytes of UTF-8. */
const MAX_KEY_BYTES = 1024;

/** The position at which a list continues. */
export interface ListPosition {
  /** The provider's own token of the page to request. */
  token: string | null;
  /** The last key that was returned. */
  last: string | null;
  /** True if that page was returned in part, up to `last`. */
  isRest: boolean;
}

/**
 * True if a key without its closing slash is a path: names separated by single slashes, none of them `.` or `..`, and not
 * longer than the keys that every provider accepts. Azure allows longer ones.
 */
export function isPath(path: string): boolean {
  if (Buffer.byteLength(path) >= MAX_KEY_BYTES) return false;
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (path === '' || /[\u0000-\u001f\u007f]/.test(path) || /\p{Surrogate}/u.test(path)) return false;
  return path.split('/').every((name) => name !== '' && name !== '.' && name !== '..');
}

/** Throws `INVALID_REQUEST` unless every provider accepts the path as a key, even with the slash of a directory. */
export function assertPath(path: string): void {
  if (isPath(path)) return;
  throw new ObjectStoreError(
    'INVALID_REQUEST',
    `A path must consist of names separated by single slashes, without control characters, and have at most ${MAX_KEY_BYTES - 1} bytes.`,
  );
}

/** Sorts like the lists of a store. */
export function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Returns the directories above a key, outermost first, each with its slash, without those of the prefix. */
export function directoriesAbove(key: string, prefix: string): string[] {
  const found: string[] = [];
  for (let at = key.indexOf('/', prefix.length); at !== -1 && at < key.length - 1; at = key.indexOf('/', at + 1)) {
    found.push(key.slice(0, at + 1));
  }
  return found;
}

export function encodePosition({ token, last, isRest }: ListPosition): string {
  return Buffer.from(JSON.stringify([token, last, isRest])).toString('base64url');
}

/** Throws `INVALID_REQUEST` unless {@link encodePosition} produced the text. */
export function decodePosition(text: string | null | undefined): ListPosition {
  if (text === null || text === undefined) return { token: null, last: null, isRest: false };
  const fields = readUntrusted(Buffer.from(text, 'base64url'), SHORT_JSON);
  const [token, last, isRest] = Array.isArray(fields) ? (fields as unknown[]) : [];
  if (isTextOrNull(token) && isTextOrNull(last) && typeof isRest === 'boolean') return { token, last, isRest };
  throw new ObjectStoreError('INVALID_REQUEST', 'The page token does not come from an earlier page of this list.');
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
