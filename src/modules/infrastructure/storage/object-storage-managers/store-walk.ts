import { type ObjectStore, ObjectStoreError, type StoreEntry } from '../../../../../libs/object-storage/object-store';
import { DomainError, invalid } from '../../../../platform/kernel/errors/domain-error';
import { nameOf } from '../../../../platform/kernel/files/file-path';
import type { PageRequest } from '../../../../platform/kernel/dto/page';

/** Totals up to this number are exact, whichever page is requested. */
const MAX_EXACT_TOTAL = 10_000;

const MAX_SEARCHED = 100_000;

/** Deadline for one page; each store request also has its own timeout. */
const WALK_TIMEOUT_MS = 60_000;

/** A directory of a store. An empty path is the root. */
export interface StoreDirectory {
  path: string;
  recursive: boolean;
}

export interface EntriesPage {
  entries: StoreEntry[];
  /** Entries on all pages. For large directories a lower bound: at least one more than the pages up to this one. */
  total: number;
}

/** Yields the entries of a directory in the pages of the store. */
export async function* entriesOf(
  store: ObjectStore,
  { path, recursive }: StoreDirectory,
  signal?: AbortSignal,
): AsyncGenerator<StoreEntry[]> {
  for (let token: string | null = null; ;) {
    const page = await store.list(path, { recursive, token, signal });
    yield page.entries;
    token = page.nextToken;
    if (token === null) return;
  }
}

/** Returns a page of a directory. Stores page by token, so all previous pages are read first. */
export function pageOfEntries(store: ObjectStore, directory: StoreDirectory, page: PageRequest): Promise<EntriesPage> {
  return withinDeadline(async (signal) => {
    const window = new Window(page);
    for await (const entries of entriesOf(store, directory, signal)) {
      window.add(entries);
      if (window.isPassed && window.total >= MAX_EXACT_TOTAL) break;
    }
    return window;
  });
}

/**
 * Returns a page of the entries of a directory whose name contains the text, ignoring case. Throws 400 if the directory
 * is too large to search completely.
 */
export function searchPage(
  store: ObjectStore,
  directory: StoreDirectory,
  partOfName: string,
  page: PageRequest,
): Promise<EntriesPage> {
  return withinDeadline(async (signal) => {
    const window = new Window(page);
    let searched = 0;
    for await (const entries of entriesOf(store, directory, signal)) {
      searched += entries.length;
      if (searched > MAX_SEARCHED) {
        throw invalid(
          'OBJECT_STORAGE.TOO_MANY_FILES',
          `The directory has more than ${MAX_SEARCHED} files to search. Search a subdirectory, or without recursive=true.`,
        );
      }
      window.add(entries.filter(({ path }) => hasInName(path, partOfName)));
    }
    return window;
  });
}

export function hasInName(path: string, part: string): boolean {
  return nameOf(path).toLowerCase().includes(part.toLowerCase());
}

/** Keeps the entries of a sequence that are on a page, and counts all. */
class Window implements EntriesPage {
  readonly entries: StoreEntry[] = [];
  total = 0;
  private readonly start: number;
  private readonly end: number;

  constructor({ limit, pageNumber }: PageRequest) {
    this.start = (pageNumber - 1) * limit;
    this.end = this.start + limit;
  }

  /** True once an entry after the page has been added. */
  get isPassed(): boolean {
    return this.total > this.end;
  }

  add(entries: readonly StoreEntry[]): void {
    const [from, to] = [this.start - this.total, this.end - this.total].map((index) => Math.max(0, index));
    this.entries.push(...entries.slice(from, to));
    this.total += entries.length;
  }
}

async function withinDeadline<T>(walk: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(WALK_TIMEOUT_MS);
  try {
    return await walk(signal);
  } catch (error) {
    if (!(error instanceof ObjectStoreError && error.code === 'CANCELLED')) throw error;
    throw new DomainError(
      'upstream',
      'OBJECT_STORAGE.TIMEOUT',
      `The store could not list all files within ${WALK_TIMEOUT_MS / 1000} seconds. List a subdirectory.`,
      {},
      { cause: error },
    );
  }
}
