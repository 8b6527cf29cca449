import type { Readable } from 'node:stream';
import type { LogStream } from '../contracts/agent-protocol';

/** Identifies a log of a run or of a node. */
export interface LogName {
  kind: 'run' | 'node';
  id: number;
  stream: LogStream;
}

/** A snapshot of a log at the time it was opened; later appends are not visible. */
export interface OpenLog {
  /** Bytes; 0 for a log that was never written. */
  readonly size: number;
  /** Returns the offset at which the last `lines` lines begin; an unfinished last line counts as one. */
  readonly offsetOfLastLines: (lines: number) => Promise<number>;
  /** Reads at most `length` bytes from an offset on, in constant memory. */
  readonly read: (offset: number, length: number) => Readable;
}

/**
 * Append-only logs, addressed by byte offset: writing a chunk again at its offset changes nothing, so agents may retry
 * with any pod, and a tail can resume anywhere. Two writers of one log send the same bytes for the same offsets.
 */
export abstract class LogStore {
  /** Writes the new part of the chunk and returns the size. A chunk that would leave a gap is not written. */
  abstract write(log: LogName, offset: number, chunk: Buffer): Promise<number>;
  /** Returns the offset at which a writer resumes, cheaply: the size, or less if another process has appended since. */
  abstract resumeAt(log: LogName): Promise<number>;
  abstract open(log: LogName): Promise<OpenLog>;
  /** Removes all streams of a run or node. */
  abstract delete(kind: LogName['kind'], id: number): Promise<void>;
  /** True if logs of ended runs and nodes need `compact`. */
  abstract readonly needsCompaction: boolean;
  /** Merges each stream of an ended run or node into as few objects as possible. May be interrupted, and repeated. */
  abstract compact(kind: LogName['kind'], id: number, signal: AbortSignal): Promise<void>;
}

export const LOG_STREAMS = {
  run: ['stdout', 'stderr', 'events'],
  node: ['stdout', 'stderr'],
} as const satisfies Record<LogName['kind'], readonly LogStream[]>;

const BLOCK = 64 * 1024;

/** Returns the offset of the last `lines` lines. @param readAt returns at most `length` bytes from an offset on */
export async function findLineStart(
  size: number,
  lines: number,
  readAt: (offset: number, length: number) => Promise<Buffer>,
): Promise<number> {
  let found = 0;
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - BLOCK);
    const block = await readAt(start, end - start);
    for (let index = block.length - 1; index >= 0; index -= 1) {
      // The newline that ends the last line does not begin another one.
      if (block[index] !== 0x0a || start + index === size - 1) continue;
      found += 1;
      if (found === lines) return start + index + 1;
    }
    end = start;
  }
  return 0;
}

/** Returns the folder of a run or node below the root: two levels keep folders small with millions of runs. */
export function logFolder(kind: LogName['kind'], id: number): string {
  return `${kind}/${String(id % 1000).padStart(3, '0')}/${id}`;
}
