import { createHash } from 'node:crypto';
import { MetastoreError, MAX_ENTRIES } from './metastore-client';

export interface MetastorePage<T> {
  /** May be empty even if more pages follow. */
  entries: T[];
  /** Token of the next page; null at the end. */
  nextToken: string | null;
}

/** A metastore that hides entries may return many pages with few entries or none. */
const MAX_PAGES = 10_000;
/** Limit of all texts of a list together. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

/**
 * Reads a whole list page by page; returns it sorted by name, without duplicates. Throws if the list never ends because its
 * tokens repeat or never stop.
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

/** Sorts by code unit, the order of all lists of a metastore client. */
export function sortedByName<T extends { name: string }>(entries: Iterable<T>): T[] {
  return [...entries].sort((one, other) => (one.name < other.name ? -1 : Number(one.name > other.name)));
}

function remember(token: string, tokens: Set<string>): void {
  // Tokens may be long; their digests are not.
  const digest = createHash('sha256').update(token).digest('base64');
  if (tokens.has(digest))
    throw new MetastoreError('failed', 'The metastore returns the same page of a list again and again.');
  tokens.add(digest);
  if (tokens.size >= MAX_PAGES) throw tooLarge(`more than ${MAX_PAGES} pages`);
}

/** Counts duplicates, too, so that a list of duplicates ends as well. */
function lengthOf(entry: object): number {
  return Object.values(entry).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
}

function tooLarge(size: string): MetastoreError {
  return new MetastoreError('too-large', `The metastore returns a list of ${size}, which is too long.`);
}
