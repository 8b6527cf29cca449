import { setMaxListeners } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { LRUCache } from 'lru-cache';
import { findLineStart, LOG_STREAMS, logFolder, type LogName, LogStore, type OpenLog } from './log-store';
import { type ObjectStore, ObjectStoreError } from './object-store';

/** A piece of a log, an object that never changes. Two of them may hold the same bytes. */
interface Segment {
  /** Offsets in the log; `end` is that of the byte after the last. */
  start: number;
  end: number;
  /** How often what is in it has been merged. */
  level: number;
}

/** What a process knows of a log that it writes. A log never shrinks: at least this much is held. */
interface Known {
  end: number;
  /** Segments at the end that nobody has merged. */
  unmerged: number;
  /** When that was seen or written. */
  at: number;
}

const MEBIBYTE = 2 ** 20;

/** This many segments of one level become one of the next: each byte is rewritten once per level. */
const FAN_OUT = 32;

/** A segment has no more, so that a merge fits into memory; one of half that size is merged no further. */
const MERGED_BYTES = 8 * MEBIBYTE;
const FULL_BYTES = MERGED_BYTES / 2;

/** Merges of one process at once, each with its segment in memory. One that finds no place is left to a later append. */
const MERGES_AT_ONCE = 2;

/** Small segments are read this many at once, and no more bytes of them. */
const READ_AT_ONCE = 16;
const READ_AHEAD_BYTES = MEBIBYTE;

/** How often a reader looks again for segments that were merged while it read, without getting any further. */
const LOOKS = 5;

/** Below the time limit of agents, which send a chunk again after it; milliseconds. */
const WRITE_MS = 10_000;
const MERGE_MS = 4_000;
/** Nodes ask for it with each poll, which must not take long; milliseconds. */
const RESUME_MS = 1_000;
const OPEN_MS = 30_000;
const DELETE_MS = 60_000;

/** After a pause of its writer a log may have grown by another process: nothing of that is to be written again. */
const FRESH_MS = 30_000;

const KNOWN_LOGS = 20_000;
const KNOWN_MS = 10 * 60_000;

const NAME = /^(\d{13})-(\d{13})-(\d)$/;

/**
 * Logs in a bucket, which cannot append: each chunk becomes an object named by the offsets of its bytes, and several
 * become one as soon as there are many. Nothing is ever changed or decided by two processes together: objects that
 * overlap hold the same bytes, and an object is deleted only when another one holds all of it. See ADR 0016.
 */
export class BucketLogStore extends LogStore {
  readonly settles = true;
  private readonly known = new LRUCache<string, Known>({ max: KNOWN_LOGS, ttl: KNOWN_MS });
  private merges = 0;

  /**
   * @param root folder in the bucket
   * @param mergeFailed is told why a merge has to be tried again with a later append; nothing is lost
   */
  constructor(
    private readonly store: ObjectStore,
    private readonly root: string,
    private readonly mergeFailed: (error: unknown) => void = () => undefined,
  ) {
    super();
  }

  async write(log: LogName, offset: number, chunk: Buffer): Promise<number> {
    const signal = AbortSignal.timeout(WRITE_MS);
    const folder = this.folder(log);
    let known = this.known.get(folder);
    if (!known || offset > known.end || Date.now() - known.at > FRESH_MS) known = await this.look(folder, signal);
    const { end } = known;
    if (offset > end || offset + chunk.length <= end) return end;
    const segment = { start: end, end: offset + chunk.length, level: 0 };
    await this.put(folder, segment, chunk.subarray(end - offset), signal);
    known.end = Math.max(known.end, segment.end);
    known.unmerged += 1;
    known.at = Date.now();
    this.known.set(folder, known);
    if (known.unmerged >= FAN_OUT && this.merges < MERGES_AT_ONCE) await this.mergeWhatIsDue(folder, known);
    return known.end;
  }

  async resumeAt(log: LogName): Promise<number> {
    const folder = this.folder(log);
    const known = this.known.get(folder) ?? (await this.look(folder, AbortSignal.timeout(RESUME_MS)));
    return known.end;
  }

  async open(log: LogName): Promise<OpenLog> {
    const folder = this.folder(log);
    const chain = chainOf(await this.segments(folder, AbortSignal.timeout(OPEN_MS)));
    const size = endOf(chain);
    const read = (offset: number, length: number): Readable =>
      Readable.from(this.bytes(folder, chain, offset, Math.min(size, offset + length)), { objectMode: false });
    return {
      size,
      read,
      offsetOfLastLines: (lines) => findLineStart(size, lines, (offset, length) => buffer(read(offset, length))),
    };
  }

  async delete(kind: LogName['kind'], id: number): Promise<void> {
    await this.store.deleteDirectory(`${this.root}/${logFolder(kind, id)}`, { signal: AbortSignal.timeout(DELETE_MS) });
    for (const stream of LOG_STREAMS[kind]) this.known.delete(this.folder({ kind, id, stream }));
  }

  async settle(kind: LogName['kind'], id: number, signal: AbortSignal): Promise<void> {
    for (const stream of LOG_STREAMS[kind]) await this.merge(this.folder({ kind, id, stream }), anyRun, signal);
  }

  private async look(folder: string, signal: AbortSignal): Promise<Known> {
    const chain = chainOf(await this.segments(folder, signal));
    const merged = chain.findLastIndex(({ level }) => level > 0);
    const known = { end: endOf(chain), unmerged: chain.length - 1 - merged, at: Date.now() };
    this.known.set(folder, known);
    return known;
  }

  /** What there is of a log, by offset; what was merged and not yet deleted included. */
  private async segments(folder: string, signal: AbortSignal): Promise<Segment[]> {
    const found: Segment[] = [];
    let token: string | null = null;
    do {
      const page = await this.store.list(folder, { token, signal });
      for (const { path } of page.entries) {
        const [, start, end, level] = NAME.exec(path.slice(folder.length + 1)) ?? [];
        if (start !== undefined) found.push({ start: Number(start), end: Number(end), level: Number(level) });
      }
      token = page.nextToken;
    } while (token !== null);
    return found;
  }

  /** What is there already has the same bytes, be it from another process or from an attempt whose answer was lost. */
  private async put(folder: string, segment: Segment, content: Buffer, signal: AbortSignal): Promise<void> {
    try {
      await this.store.put(pathOf(folder, segment), content, { overwrite: false, signal });
    } catch (error) {
      if (!(error instanceof ObjectStoreError && error.code === 'ALREADY_EXISTS')) throw error;
    }
  }

  /** A failure does not fail the append, which is done. */
  private async mergeWhatIsDue(folder: string, known: Known): Promise<void> {
    known.unmerged = 0;
    this.merges += 1;
    try {
      await this.merge(folder, dueRun, AbortSignal.timeout(MERGE_MS));
    } catch (error) {
      this.mergeFailed(error);
    } finally {
      this.merges -= 1;
    }
  }

  /**
   * Makes one segment of each run of segments, and deletes those that another one holds. May be cut short anywhere, and
   * be done by several processes at once: one that finds its segments gone leaves the rest to whoever merged them.
   */
  private async merge(
    folder: string,
    nextRun: (chain: readonly Segment[]) => Segment[] | null,
    signal: AbortSignal,
  ): Promise<void> {
    // Each segment that is read listens, and so does its stream.
    setMaxListeners(READ_AT_ONCE * 3, signal);
    const all = await this.segments(folder, signal);
    let chain = chainOf(all);
    let unneeded = all.filter((segment) => !chain.includes(segment));
    for (let run = nextRun(chain); run; run = nextRun(chain)) {
      const merged = await this.mergeRun(folder, run, signal);
      if (!merged) return;
      const inputs = run;
      unneeded.push(...inputs);
      chain = chain.flatMap((segment) =>
        segment === inputs[0] ? [merged] : inputs.includes(segment) ? [] : [segment],
      );
      unneeded = await this.deleteThousand(folder, unneeded, signal);
    }
    while (unneeded.length > 0) unneeded = await this.deleteThousand(folder, unneeded, signal);
  }

  /** Null when another process has merged these segments. */
  private async mergeRun(folder: string, run: readonly Segment[], signal: AbortSignal): Promise<Segment | null> {
    const [first, last] = [run[0]!, run.at(-1)!];
    const merged = {
      start: first.start,
      end: last.end,
      level: Math.min(9, Math.max(...run.map(({ level }) => level)) + 1),
    };
    const content = Buffer.allocUnsafe(merged.end - merged.start);
    try {
      for (let at = 0; at < run.length; at += READ_AT_ONCE) {
        await Promise.all(
          run.slice(at, at + READ_AT_ONCE).map(async (segment) => {
            const whole = await this.content(folder, segment, segment.start, segment.end, signal);
            whole.copy(content, segment.start - merged.start);
          }),
        );
      }
    } catch (error) {
      if (isAbsent(error)) return null;
      throw error;
    }
    await this.put(folder, merged, content, signal);
    return merged;
  }

  /** Answers those that are left to be deleted. */
  private async deleteThousand(folder: string, unneeded: readonly Segment[], signal: AbortSignal): Promise<Segment[]> {
    const paths = unneeded.slice(0, 1000).map((segment) => pathOf(folder, segment));
    await this.store.deleteFiles(paths, { signal });
    return unneeded.slice(1000);
  }

  private async *bytes(
    folder: string,
    opened: readonly Segment[],
    start: number,
    end: number,
  ): AsyncGenerator<Buffer, void> {
    let chain = opened;
    for (let at = start, looks = 0; at < end;) {
      const batch = batchAt(chain, at, end);
      try {
        for await (const chunk of this.batch(folder, batch, at, end)) {
          at += chunk.length;
          looks = 0;
          yield chunk;
        }
      } catch (error) {
        looks += 1;
        if (!isAbsent(error) || looks > LOOKS) throw error;
        // They were merged meanwhile: the same bytes are in others.
        chain = chainOf(await this.segments(folder, AbortSignal.timeout(OPEN_MS)));
      }
    }
  }

  /** The bytes of a few small segments, or of one. */
  private async *batch(
    folder: string,
    batch: readonly Segment[],
    start: number,
    end: number,
  ): AsyncGenerator<Buffer, void> {
    const [first] = batch;
    if (!first) throw new ObjectStoreError('NOT_FOUND', `The log no longer has byte ${start}.`);
    if (batch.length > 1) {
      const parts = batch.map((segment, index) =>
        this.content(folder, segment, index === 0 ? start : batch[index - 1]!.end, Math.min(segment.end, end)),
      );
      yield* await Promise.all(parts);
      return;
    }
    const range = { start: start - first.start, end: Math.min(first.end, end) - first.start - 1 };
    const { stream } = await this.store.read(pathOf(folder, first), { range });
    yield* stream as AsyncIterable<Buffer>;
  }

  /** Bytes of a segment by their offsets in the log. */
  private async content(
    folder: string,
    segment: Segment,
    start: number,
    end: number,
    signal?: AbortSignal,
  ): Promise<Buffer> {
    const range = { start: start - segment.start, end: end - segment.start - 1 };
    const { stream } = await this.store.read(pathOf(folder, segment), { range, signal });
    return buffer(stream);
  }

  private folder({ kind, id, stream }: LogName): string {
    return `${this.root}/${logFolder(kind, id)}/${stream}`;
  }
}

function pathOf(folder: string, { start, end, level }: Segment): string {
  return `${folder}/${digits(start)}-${digits(end)}-${level}`;
}

function digits(offset: number): string {
  return String(offset).padStart(13, '0');
}

/** The fewest segments that hold the log from its beginning on, each reaching further than the one before. */
function chainOf(segments: readonly Segment[]): Segment[] {
  const chain: Segment[] = [];
  let [end, at] = [0, 0];
  for (;;) {
    let best: Segment | null = null;
    for (let next = segments[at]; next && next.start <= end; at += 1, next = segments[at]) {
      if (next.end > (best?.end ?? end)) best = next;
    }
    if (!best) return chain;
    chain.push(best);
    end = best.end;
  }
}

function endOf(chain: readonly Segment[]): number {
  return chain.at(-1)?.end ?? 0;
}

/** What holds the bytes from an offset on: several small segments, or one. */
function batchAt(chain: readonly Segment[], start: number, end: number): Segment[] {
  const batch: Segment[] = [];
  const first = chain.findIndex((segment) => segment.end > start);
  for (let at = first; at >= 0 && at < chain.length && batch.length < READ_AT_ONCE; at += 1) {
    const segment = chain[at]!;
    if (segment.start >= end) break;
    if (batch.length > 0 && segment.end - start > READ_AHEAD_BYTES) break;
    batch.push(segment);
  }
  return batch;
}

/** The last run with as many segments of one level as are merged at once. */
function dueRun(chain: readonly Segment[]): Segment[] | null {
  for (let last = chain.length - 1; last >= 0;) {
    let first = last;
    const isAlike = (segment: Segment | undefined) => segment?.level === chain[last]!.level && isSmall(segment);
    if (isSmall(chain[last]!)) while (isAlike(chain[first - 1])) first -= 1;
    if (last - first + 1 >= FAN_OUT) return fitting(chain.slice(first, last + 1));
    last = first - 1;
  }
  return null;
}

/** Any adjacent small segments. */
function anyRun(chain: readonly Segment[]): Segment[] | null {
  const first = chain.findIndex((segment, at) => {
    const next = chain[at + 1];
    return isSmall(segment) && next !== undefined && isSmall(next);
  });
  if (first === -1) return null;
  const after = chain.findIndex((segment, at) => at > first && !isSmall(segment));
  return fitting(chain.slice(first, after === -1 ? undefined : after));
}

function isSmall({ start, end }: Segment): boolean {
  return end - start < FULL_BYTES;
}

/** The first of the segments, two at least, as far as they make one of allowed size. */
function fitting(run: readonly Segment[]): Segment[] {
  const begin = run[0]?.start ?? 0;
  return run.filter(({ end }) => end - begin <= MERGED_BYTES);
}

function isAbsent(error: unknown): boolean {
  return error instanceof ObjectStoreError && error.code === 'NOT_FOUND';
}
