import { type ObjectStore, ObjectStoreError, type StoreEntry } from '../../../../../libs/object-storage/object-store';
import { DomainError, invalid } from '../../../../platform/kernel/errors/domain-error';
import { nameOf } from '../../../../platform/kernel/files/file-path';
import type { PageRequest } from '../../../../platform/kernel/dto/page';

/** Entries that are counted exactly however far away the requested page is. */
const COUNTED = 10_000;

/** Entries that a search looks at. */
const SEARCHED = 100_000;

/** What reading one page may take, milliseconds; each call of the store has a deadline of its own. */
const WALK_MS = 60_000;

/** A directory of a store; the root for an empty path. */
export interface StoreDirectory {
  path: string;
  /** With everything below. */
  recursive: boolean;
}

export interface EntriesPage {
  entries: StoreEntry[];
  /** On all pages; for larger directories at least as many as are on the pages up to this one, plus one. */
  total: number;
}

/** The entries of a directory, as many at once as the store gives. */
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

/** A page of a directory. Stores page by tokens: to reach a page, those before it must be read. */
export function pageOfEntries(store: ObjectStore, directory: StoreDirectory, page: PageRequest): Promise<EntriesPage> {
  return withinDeadline(async (signal) => {
    const window = new Window(page);
    for await (const entries of entriesOf(store, directory, signal)) {
      window.add(entries);
      if (window.isPassed && window.total >= COUNTED) break;
    }
    return window;
  });
}

/**
 * A page of the entries of a directory that have the text in their name, ignoring case. Throws a 400 when the directory
 * is too large for the answer to be whole.
 */
export function pageOfFound(
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
      if (searched > SEARCHED) {
        throw invalid(
          'OBJECT_STORAGE.TOO_MANY_FILES',
          `There are more than ${SEARCHED} files to search. Name a directory, or search without recursive=true.`,
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

/** Keeps the part of a sequence that is on a page. */
class Window implements EntriesPage {
  readonly entries: StoreEntry[] = [];
  total = 0;
  private readonly start: number;
  private readonly end: number;

  constructor({ limit, pageNumber }: PageRequest) {
    this.start = (pageNumber - 1) * limit;
    this.end = this.start + limit;
  }

  /** Whether something after the page has come. */
  get isPassed(): boolean {
    return this.total > this.end;
  }

  add(entries: readonly StoreEntry[]): void {
    const [from, to] = [this.start - this.total, this.end - this.total].map((at) => Math.max(0, at));
    this.entries.push(...entries.slice(from, to));
    this.total += entries.length;
  }
}

async function withinDeadline<T>(walk: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(WALK_MS);
  try {
    return await walk(signal);
  } catch (error) {
    if (!(error instanceof ObjectStoreError && error.code === 'CANCELLED')) throw error;
    throw new DomainError(
      'upstream',
      'OBJECT_STORAGE.TIMEOUT',
      `The store could not list all the files within ${WALK_MS / 1000} seconds. Name a directory.`,
      {},
      { cause: error },
    );
  }
}
