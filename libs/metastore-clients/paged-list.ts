import { createHash } from 'node:crypto';
import { MetastoreError, MAX_ENTRIES } from './metastore-client';

export interface MetastorePage<T> {
  /** May be empty although more follow. */
  entries: T[];
  /** Of the following page; null at the end. */
  nextToken: string | null;
}

/** A metastore that hides entries may answer many pages with few of them or none. */
const MAX_PAGES = 10_000;
/** Of all texts of a list together. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

/**
 * A whole list, read page by page: sorted by name, without duplicates. A list that has no end, because its tokens repeat
 * or never stop, is an error.
 */
export async function readPages<T extends { name: string }>(
  readPage: (token: string | null) => Promise<MetastorePage<T>>,
): Promise<T[]> {
  const found = new Map<string, T>();
  const tokens = new Set<string>();
  let characters = 0;
  let token: string | null = null;
  do {
    const { entries, nextToken }: MetastorePage<T> = await readPage(token);
    for (const entry of entries) {
      characters += lengthOf(entry);
      found.set(entry.name, entry);
    }
    if (found.size > MAX_ENTRIES) throw tooLarge(`more than ${MAX_ENTRIES} entries`);
    if (characters > MAX_CHARACTERS) throw tooLarge(`more than ${MAX_CHARACTERS} characters`);
    if (nextToken !== null) remember(nextToken, tokens);
    token = nextToken;
  } while (token !== null);
  return sortedByName(found.values());
}

/** By code unit, as is the order of all lists of a metastore. */
export function sortedByName<T extends { name: string }>(entries: Iterable<T>): T[] {
  return [...entries].sort((one, other) => (one.name < other.name ? -1 : Number(one.name > other.name)));
}

function remember(token: string, tokens: Set<string>): void {
  // Tokens may be long; their digests are not.
  const digest = createHash('sha256').update(token).digest('base64');
  if (tokens.has(digest)) throw new MetastoreError('failed', 'The metastore answers the same page of a list again.');
  tokens.add(digest);
  if (tokens.size >= MAX_PAGES) throw tooLarge(`more than ${MAX_PAGES} pages`);
}

/** Counts duplicates, too: a list of nothing else has no end either. */
function lengthOf(entry: object): number {
  return Object.values(entry).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
}

function tooLarge(what: string): MetastoreError {
  return new MetastoreError('too-large', `The metastore answers a list of ${what}.`);
}
