import { LRUCache } from 'lru-cache';
import { PackedList } from './packed-list';

const MAX_CACHE_BYTES = 128 * 1024 * 1024;
/** Each list counts at least this much, for its entry in the cache. */
const LIST_OVERHEAD_BYTES = 1024;
/** Until this age, a list is returned without a call to the metastore. */
const FRESH_MS = 60_000;
/** Until this age, a list is returned while it is refreshed in the background. */
const STALE_MS = 10 * 60_000;

type Read<T> = () => Promise<readonly T[]>;

interface CachedList {
  list: PackedList<unknown>;
  readAt: number;
}

interface PendingRead {
  list: Promise<PackedList<unknown>>;
  /** The next read of the same list, which starts after this one, for callers that need a newer list. */
  next: Promise<PackedList<unknown>> | null;
}

/**
 * A cache of lists from metastores, bounded in bytes. A list is fresh for a minute. Up to ten minutes old, it is returned at once
 * and refreshed in the background. For an older one the caller waits. Concurrent callers share one read.
 *
 * A key contains everything that the list depends on, including the versions of catalog and secret: what was read with one secret
 * is never returned for another, and a change takes effect on every pod at once.
 */
export class ListingCache {
  private readonly cache: LRUCache<string, CachedList>;
  private readonly pending = new Map<string, PendingRead>();

  constructor(private readonly now: () => number = () => performance.now()) {
    this.cache = new LRUCache({
      maxSize: MAX_CACHE_BYTES,
      maxEntrySize: MAX_CACHE_BYTES / 4,
      sizeCalculation: ({ list }, key) => LIST_OVERHEAD_BYTES + 2 * key.length + list.size,
    });
  }

  /** @param refresh requires a list whose read starts after this call */
  async get<T>(key: string, read: Read<T>, refresh = false): Promise<PackedList<T>> {
    return (await this.find(key, read, refresh)) as PackedList<T>;
  }

  private find<T>(key: string, read: Read<T>, refresh: boolean): Promise<PackedList<unknown>> {
    if (refresh) return this.refresh(key, read);
    const cached = this.cache.get(key);
    const age = cached ? this.now() - cached.readAt : Infinity;
    if (cached && age < FRESH_MS) return Promise.resolve(cached.list);
    const pendingRead = this.pending.get(key)?.list ?? this.start(key, read);
    if (!cached || age >= STALE_MS) return pendingRead;
    // Nobody awaits the background refresh. If it fails, the next caller starts another one.
    pendingRead.catch(() => undefined);
    return Promise.resolve(cached.list);
  }

  private refresh<T>(key: string, read: Read<T>): Promise<PackedList<unknown>> {
    const current = this.pending.get(key);
    if (!current) return this.start(key, read);
    current.next ??= current.list.then(
      () => this.start(key, read),
      () => this.start(key, read),
    );
    return current.next;
  }

  private start<T>(key: string, read: Read<T>): Promise<PackedList<unknown>> {
    const pendingRead: PendingRead = { list: this.readAndCache(key, read), next: null };
    this.pending.set(key, pendingRead);
    const ended = (): void => {
      if (this.pending.get(key) === pendingRead) this.pending.delete(key);
    };
    pendingRead.list.then(ended, ended);
    return pendingRead.list;
  }

  private async readAndCache<T>(key: string, read: Read<T>): Promise<PackedList<unknown>> {
    const readAt = this.now();
    const list: PackedList<unknown> = PackedList.of(await read());
    this.cache.set(key, { list, readAt });
    return list;
  }
}
