import {
  type ListOptions,
  type ObjectStore,
  ObjectStoreError,
  type StoreEntry,
} from '../../../../../libs/object-storage/object-store';
import { pageOfEntries, searchPage } from './store-walk';

const ROOT = { path: '', recursive: true };

function fileAt(path: string): StoreEntry {
  return { path, kind: 'file', sizeBytes: 1, lastModified: null, contentType: null };
}

/** A store that returns its files in pages of varying size, some of them empty. */
class ManyFiles {
  calls = 0;

  constructor(
    private readonly count: number,
    private readonly sizes: readonly number[] = [3, 0, 1, 7],
  ) {}

  get store(): ObjectStore {
    return { list: (_directory: string, options: ListOptions) => this.list(options) } as unknown as ObjectStore;
  }

  private list({ token, signal }: ListOptions) {
    signal?.throwIfAborted();
    const start = Number(token ?? 0);
    const end = Math.min(this.count, start + (this.sizes[this.calls % this.sizes.length] ?? 0));
    this.calls += 1;
    const entries = Array.from({ length: end - start }, (_, index) => fileAt(`dir/file-${start + index}`));
    return Promise.resolve({ entries, nextToken: end < this.count ? String(end) : null });
  }
}

const pathsOf = (entries: StoreEntry[]) => entries.map(({ path }) => path);

describe('pageOfEntries', () => {
  it.each([0, 1, 4, 5, 6, 23])('returns each of %i entries once, in order, with the total', async (count) => {
    const seen: string[] = [];
    for (let pageNumber = 1; pageNumber <= Math.max(1, Math.ceil(count / 5)); pageNumber += 1) {
      const page = await pageOfEntries(new ManyFiles(count).store, ROOT, { limit: 5, pageNumber });
      expect(page.total).toBe(count);
      seen.push(...pathsOf(page.entries));
    }
    expect(seen).toEqual(Array.from({ length: count }, (_, index) => `dir/file-${index}`));
  });

  it('returns no entries beyond the end, but the total', async () => {
    const page = await pageOfEntries(new ManyFiles(7).store, ROOT, { limit: 5, pageNumber: 9 });
    expect(page).toMatchObject({ entries: [], total: 7 });
  });

  it('stops counting a large directory once it has found more entries than the page needs', async () => {
    const many = new ManyFiles(1_000_000, [1000]);
    const first = await pageOfEntries(many.store, ROOT, { limit: 100, pageNumber: 1 });
    expect(first.total).toBe(10_000);
    expect(many.calls).toBe(10);
    const far = await pageOfEntries(many.store, ROOT, { limit: 1000, pageNumber: 20 });
    expect(pathsOf(far.entries).at(-1)).toBe('dir/file-19999');
    expect(far.total).toBeGreaterThan(20_000);
  });

  it('counts exactly at the limit', async () => {
    const page = { limit: 1000, pageNumber: 10 };
    expect((await pageOfEntries(new ManyFiles(10_000, [1000]).store, ROOT, page)).total).toBe(10_000);
    expect((await pageOfEntries(new ManyFiles(10_001, [1000]).store, ROOT, page)).total).toBe(10_001);
  });

  it('throws the error of the store, and its own timeout', async () => {
    const failing = (code: 'CANCELLED' | 'ACCESS_DENIED') =>
      ({ list: () => Promise.reject(new ObjectStoreError(code, 'why')) }) as unknown as ObjectStore;
    const page = { limit: 5, pageNumber: 1 };
    await expect(pageOfEntries(failing('ACCESS_DENIED'), ROOT, page)).rejects.toMatchObject({ code: 'ACCESS_DENIED' });
    await expect(pageOfEntries(failing('CANCELLED'), ROOT, page)).rejects.toMatchObject({
      kind: 'upstream',
      code: 'OBJECT_STORAGE.TIMEOUT',
    });
  });
});

describe('searchPage', () => {
  it('returns a page of entries whose name, not directory, contains the text', async () => {
    const many = new ManyFiles(30);
    const page = await searchPage(many.store, ROOT, 'FILE-1', { limit: 4, pageNumber: 2 });
    expect(page.total).toBe(11);
    expect(pathsOf(page.entries)).toEqual([13, 14, 15, 16].map((number) => `dir/file-${number}`));
    expect((await searchPage(many.store, ROOT, 'dir', { limit: 4, pageNumber: 1 })).total).toBe(0);
  });

  it('refuses a directory that is too large to search', async () => {
    const page = { limit: 4, pageNumber: 1 };
    await expect(searchPage(new ManyFiles(100_001, [1000]).store, ROOT, 'file', page)).rejects.toMatchObject({
      kind: 'invalid',
      code: 'OBJECT_STORAGE.TOO_MANY_FILES',
    });
    expect((await searchPage(new ManyFiles(100_000, [1000]).store, ROOT, 'file', page)).total).toBe(100_000);
  });
});
