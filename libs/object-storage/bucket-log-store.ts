import { setMaxListeners } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { LRUCache } from 'lru-cache';
import { findLineStart, LOG_STREAMS, logFolder, type LogName, LogStore, type OpenLog } from './log-store';
import { type ObjectStore, ObjectStoreError } from './object-store';

/** A part of a log, stored as an object that never changes. Two segments may hold the same bytes. */
interface Segment {
  /** Offsets in the log; `end` is exclusive. */
  start: number;
  end: number;
  /** The number of merges that the bytes have been through. */
  level: number;
}

/** The state of a log as its writer last saw it. A log never shrinks, so the store holds at least this much. */
interface LogState {
  end: number;
  /** Number of segments at the end that are not merged yet. */
  unmerged: number;
  /** Time of the last list or write. */
  at: number;
}

const MEBIBYTE = 2 ** 20;

/** Number of segments of one level that are merged into one of the next: each byte is rewritten once per level. */
const FAN_OUT = 32;

/** Keeps a merge small enough for memory. A segment of half this size is not merged any further. */
const MAX_SEGMENT_BYTES = 8 * MEBIBYTE;
const FULL_BYTES = MAX_SEGMENT_BYTES / 2;

/** Each merge holds its segment in memory. A merge above this limit waits for a later append. */
const MAX_PARALLEL_MERGES = 2;

/** Limits of the small segments that are read at the same time: their number, and their bytes together. */
const PARALLEL_READS = 16;
const MAX_PREFETCH_BYTES = MEBIBYTE;

/** A reader lists the segments this many times without progress if a merge removes them while it reads. */
const MAX_RELISTS = 5;

/** Shorter than the timeout of agents, which send a chunk again after theirs. */
const WRITE_TIMEOUT_MS = 10_000;
const MERGE_TIMEOUT_MS = 4_000;
/** Nodes read the offset with each poll, which must not take long. */
const RESUME_TIMEOUT_MS = 1_000;
const OPEN_TIMEOUT_MS = 30_000;
const DELETE_TIMEOUT_MS = 60_000;

/** Maximum age of a log state that a write trusts: later, another process may have appended bytes that exist already. */
const MAX_STATE_AGE_MS = 30_000;

const MAX_CACHED_STATES = 20_000;
const STATE_TTL_MS = 10 * 60_000;

const SEGMENT_NAME = /^(\d{13})-(\d{13})-(\d)$/;

/**
 * Stores logs in a bucket, which cannot append: each chunk becomes an object named by the offsets of its bytes, and many
 * small objects are merged into one. Processes need no coordination: objects never change, objects that overlap hold the
 * same bytes, and an object is deleted only when another one holds all of it. See ADR 0016.
 */
export class BucketLogStore extends LogStore {
  readonly needsCompaction = true;
  private readonly states = new LRUCache<string, LogState>({ max: MAX_CACHED_STATES, ttl: STATE_TTL_MS });
  private merges = 0;

  /**
   * @param root folder in the bucket
   * @param onMergeError called if a merge fails; a later append retries it, and no bytes are lost
   */
  constructor(
    private readonly store: ObjectStore,
    private readonly root: string,
    private readonly onMergeError: (error: unknown) => void = () => undefined,
  ) {
    super();
  }

  async write(log: LogName, offset: number, chunk: Buffer): Promise<number> {
    const signal = AbortSignal.timeout(WRITE_TIMEOUT_MS);
    const folder = this.folder(log);
    let state = this.states.get(folder);
    if (!state || offset > state.end || Date.now() - state.at > MAX_STATE_AGE_MS)
      state = await this.loadState(folder, signal);
    const { end } = state;
    if (offset > end || offset + chunk.length <= end) return end;
    const segment = { start: end, end: offset + chunk.length, level: 0 };
    await this.put(folder, segment, chunk.subarray(end - offset), signal);
    state.end = Math.max(state.end, segment.end);
    state.unmerged += 1;
    state.at = Date.now();
    this.states.set(folder, state);
    if (state.unmerged >= FAN_OUT && this.merges < MAX_PARALLEL_MERGES) await this.mergeDueRun(folder, state);
    return state.end;
  }

  async resumeAt(log: LogName): Promise<number> {
    const folder = this.folder(log);
    const state = this.states.get(folder) ?? (await this.loadState(folder, AbortSignal.timeout(RESUME_TIMEOUT_MS)));
    return state.end;
  }

  async open(log: LogName): Promise<OpenLog> {
    const folder = this.folder(log);
    const chain = chainOf(await this.segments(folder, AbortSignal.timeout(OPEN_TIMEOUT_MS)));
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
    await this.store.deleteDirectory(`${this.root}/${logFolder(kind, id)}`, {
      signal: AbortSignal.timeout(DELETE_TIMEOUT_MS),
    });
    for (const stream of LOG_STREAMS[kind]) this.states.delete(this.folder({ kind, id, stream }));
  }

  async compact(kind: LogName['kind'], id: number, signal: AbortSignal): Promise<void> {
    for (const stream of LOG_STREAMS[kind]) await this.merge(this.folder({ kind, id, stream }), anyRun, signal);
  }

  private async loadState(folder: string, signal: AbortSignal): Promise<LogState> {
    const chain = chainOf(await this.segments(folder, signal));
    const merged = chain.findLastIndex(({ level }) => level > 0);
    const state = { end: endOf(chain), unmerged: chain.length - 1 - merged, at: Date.now() };
    this.states.set(folder, state);
    return state;
  }

  /** Lists all segments of a log by offset, including merged ones that are not deleted yet. */
  private async segments(folder: string, signal: AbortSignal): Promise<Segment[]> {
    const found: Segment[] = [];
    let token: string | null = null;
    do {
      const page = await this.store.list(folder, { token, signal });
      for (const { path } of page.entries) {
        const [, start, end, level] = SEGMENT_NAME.exec(path.slice(folder.length + 1)) ?? [];
        if (start !== undefined) found.push({ start: Number(start), end: Number(end), level: Number(level) });
      }
      token = page.nextToken;
    } while (token !== null);
    return found;
  }

  /** An existing object has the same bytes: another process wrote it, or an earlier attempt lost its response. */
  private async put(folder: string, segment: Segment, content: Buffer, signal: AbortSignal): Promise<void> {
    try {
      await this.store.put(pathOf(folder, segment), content, { overwrite: false, signal });
    } catch (error) {
      if (!(error instanceof ObjectStoreError && error.code === 'ALREADY_EXISTS')) throw error;
    }
  }

  /** Never throws: the append has already succeeded. */
  private async mergeDueRun(folder: string, state: LogState): Promise<void> {
    state.unmerged = 0;
    this.merges += 1;
    try {
      await this.merge(folder, dueRun, AbortSignal.timeout(MERGE_TIMEOUT_MS));
    } catch (error) {
      this.onMergeError(error);
    } finally {
      this.merges -= 1;
    }
  }

  /**
   * Merges each run of adjacent segments into one, and deletes segments whose bytes another one holds. It may stop at any
   * point, and several processes may run it at once: a process whose segments are gone leaves the rest to the other.
   */
  private async merge(
    folder: string,
    nextRun: (chain: readonly Segment[]) => Segment[] | null,
    signal: AbortSignal,
  ): Promise<void> {
    // Each segment that is read adds a listener, and so does its stream.
    setMaxListeners(PARALLEL_READS * 3, signal);
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
      unneeded = await this.deleteBatch(folder, unneeded, signal);
    }
    while (unneeded.length > 0) unneeded = await this.deleteBatch(folder, unneeded, signal);
  }

  /** Returns null if another process has merged these segments. */
  private async mergeRun(folder: string, run: readonly Segment[], signal: AbortSignal): Promise<Segment | null> {
    const [first, last] = [run[0]!, run.at(-1)!];
    const merged = {
      start: first.start,
      end: last.end,
      level: Math.min(9, Math.max(...run.map(({ level }) => level)) + 1),
    };
    const content = Buffer.allocUnsafe(merged.end - merged.start);
    try {
      for (let at = 0; at < run.length; at += PARALLEL_READS) {
        await Promise.all(
          run.slice(at, at + PARALLEL_READS).map(async (segment) => {
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

  /** Deletes one batch; returns the segments that remain to be deleted. */
  private async deleteBatch(folder: string, unneeded: readonly Segment[], signal: AbortSignal): Promise<Segment[]> {
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
    for (let at = start, relists = 0; at < end;) {
      const batch = batchAt(chain, at, end);
      try {
        for await (const chunk of this.batch(folder, batch, at, end)) {
          at += chunk.length;
          relists = 0;
          yield chunk;
        }
      } catch (error) {
        relists += 1;
        if (!isAbsent(error) || relists > MAX_RELISTS) throw error;
        // The segments were merged meanwhile: others hold the same bytes.
        chain = chainOf(await this.segments(folder, AbortSignal.timeout(OPEN_TIMEOUT_MS)));
      }
    }
  }

  /** Reads a few small segments at once, or one segment as a stream. */
  private async *batch(
    folder: string,
    batch: readonly Segment[],
    start: number,
    end: number,
  ): AsyncGenerator<Buffer, void> {
    const [first] = batch;
    if (!first)
      throw new ObjectStoreError('NOT_FOUND', `The log no longer has byte ${start}: it was deleted meanwhile.`);
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

  /** @param start offset in the log, like `end`, which is exclusive */
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

/** Returns the fewest segments that hold the log from its beginning on; each reaches further than the one before. */
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

/** Returns the next segments to read from an offset on: several small ones, or one. */
function batchAt(chain: readonly Segment[], start: number, end: number): Segment[] {
  const batch: Segment[] = [];
  const first = chain.findIndex((segment) => segment.end > start);
  for (let at = first; at >= 0 && at < chain.length && batch.length < PARALLEL_READS; at += 1) {
    const segment = chain[at]!;
    if (segment.start >= end) break;
    if (batch.length > 0 && segment.end - start > MAX_PREFETCH_BYTES) break;
    batch.push(segment);
  }
  return batch;
}

/** Returns the last run of at least {@link FAN_OUT} adjacent small segments of one level. */
function dueRun(chain: readonly Segment[]): Segment[] | null {
  for (let last = chain.length - 1; last >= 0;) {
    let first = last;
    const isAlike = (segment: Segment | undefined) => segment?.level === chain[last]!.level && isSmall(segment);
    if (isSmall(chain[last]!)) while (isAlike(chain[first - 1])) first -= 1;
    if (last - first + 1 >= FAN_OUT) return withinMaxSize(chain.slice(first, last + 1));
    last = first - 1;
  }
  return null;
}

/** Returns the first run of adjacent small segments, of any level. */
function anyRun(chain: readonly Segment[]): Segment[] | null {
  const first = chain.findIndex((segment, at) => {
    const next = chain[at + 1];
    return isSmall(segment) && next !== undefined && isSmall(next);
  });
  if (first === -1) return null;
  const after = chain.findIndex((segment, at) => at > first && !isSmall(segment));
  return withinMaxSize(chain.slice(first, after === -1 ? undefined : after));
}

function isSmall({ start, end }: Segment): boolean {
  return end - start < FULL_BYTES;
}

/** Returns the first segments of the run, at least two, that together fit into one. */
function withinMaxSize(run: readonly Segment[]): Segment[] {
  const begin = run[0]?.start ?? 0;
  return run.filter(({ end }) => end - begin <= MAX_SEGMENT_BYTES);
}

function isAbsent(error: unknown): boolean {
  return error instanceof ObjectStoreError && error.code === 'NOT_FOUND';
}
