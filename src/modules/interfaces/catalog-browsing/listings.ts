import { LRUCache } from 'lru-cache';
import { PackedList } from './packed-list';

/** All lists that this process keeps, bytes. */
const KEPT_BYTES = 128 * 1024 * 1024;
/** A list costs at least this, however short it is: its key, and its place among the others. */
const MIN_BYTES = 1024;
/** Answered without a look at the metastore. */
const FRESH_MS = 60_000;
/** Answered while it is read anew behind the answer. */
const STALE_MS = 10 * 60_000;

type Read<T> = () => Promise<readonly T[]>;

interface Kept {
  list: PackedList<unknown>;
  /** When its reading began. */
  readAt: number;
}

interface Reading {
  list: Promise<PackedList<unknown>>;
  /** A reading of the same list that begins when this one has ended, for who wants nothing older. */
  next: Promise<PackedList<unknown>> | null;
}

/**
 * Lists that metastores have told, bounded in bytes. A list is fresh for a minute; one up to ten minutes old is answered
 * at once and read anew behind the answer; for an older one the caller waits. However many ask at once, a list is read
 * once.
 *
 * A key says all that the list depends on, the versions of catalog and secret among it: what was read with one secret is
 * never found with another, and a change counts on every pod at once.
 */
export class Listings {
  private readonly kept: LRUCache<string, Kept>;
  private readonly readings = new Map<string, Reading>();

  constructor(private readonly now: () => number = () => performance.now()) {
    this.kept = new LRUCache({
      maxSize: KEPT_BYTES,
      maxEntrySize: KEPT_BYTES / 4,
      sizeCalculation: ({ list }, key) => MIN_BYTES + 2 * key.length + list.size,
    });
  }

  /** @param isAnew asks for a list whose reading begins after this call */
  async get<T>(key: string, read: Read<T>, isAnew = false): Promise<PackedList<T>> {
    return (await this.find(key, read, isAnew)) as PackedList<T>;
  }

  private find<T>(key: string, read: Read<T>, isAnew: boolean): Promise<PackedList<unknown>> {
    if (isAnew) return this.readAnew(key, read);
    const kept = this.kept.get(key);
    const age = kept ? this.now() - kept.readAt : Infinity;
    if (kept && age < FRESH_MS) return Promise.resolve(kept.list);
    const reading = this.readings.get(key)?.list ?? this.begin(key, read);
    if (!kept || age >= STALE_MS) return reading;
    // Whoever waits for the list is told why it fails; here nobody does, and the next who asks tries again.
    reading.catch(() => undefined);
    return Promise.resolve(kept.list);
  }

  private readAnew<T>(key: string, read: Read<T>): Promise<PackedList<unknown>> {
    const underWay = this.readings.get(key);
    if (!underWay) return this.begin(key, read);
    underWay.next ??= underWay.list.then(
      () => this.begin(key, read),
      () => this.begin(key, read),
    );
    return underWay.next;
  }

  private begin<T>(key: string, read: Read<T>): Promise<PackedList<unknown>> {
    const reading: Reading = { list: this.readAndKeep(key, read), next: null };
    this.readings.set(key, reading);
    const ended = (): void => {
      if (this.readings.get(key) === reading) this.readings.delete(key);
    };
    reading.list.then(ended, ended);
    return reading.list;
  }

  private async readAndKeep<T>(key: string, read: Read<T>): Promise<PackedList<unknown>> {
    const readAt = this.now();
    const list: PackedList<unknown> = PackedList.of(await read());
    this.kept.set(key, { list, readAt });
    return list;
  }
}
