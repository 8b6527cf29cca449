import type { Readable } from 'node:stream';
import type { LogStream } from '../contracts/agent-protocol';

/** Which log: of a run or of a node. */
export interface LogName {
  kind: 'run' | 'node';
  id: number;
  stream: LogStream;
}

/** A log as it was when it was opened; what is appended later is not a part of it. */
export interface OpenLog {
  /** Bytes held; 0 for a log nobody wrote. */
  readonly size: number;
  /** Offset at which the last `lines` lines begin; an unfinished last line counts as one. */
  readonly offsetOfLastLines: (lines: number) => Promise<number>;
  /** At most `length` bytes from an offset on, in constant memory. */
  readonly read: (offset: number, length: number) => Readable;
}

/**
 * Append-only logs, addressed by byte offset: writing a chunk again at its offset changes nothing, so agents may repeat
 * themselves, to any pod, and a tail resumes anywhere. Two writers of one log send the same bytes for the same offsets.
 */
export abstract class LogStore {
  /** Writes the part of the chunk that is not held yet and answers the size. A chunk that would leave a gap is not written. */
  abstract write(log: LogName, offset: number, chunk: Buffer): Promise<number>;
  /** Where a writer goes on, which costs next to nothing: the size, or less where another process has appended since. */
  abstract resumeAt(log: LogName): Promise<number>;
  abstract open(log: LogName): Promise<OpenLog>;
  /** Removes all streams of a run or node. */
  abstract delete(kind: LogName['kind'], id: number): Promise<void>;
  /** Whether logs that have ended are to be settled. */
  abstract readonly settles: boolean;
  /** Merges each stream of an ended run or node into as few pieces as possible. May be cut short, and repeated. */
  abstract settle(kind: LogName['kind'], id: number, signal: AbortSignal): Promise<void>;
}

export const LOG_STREAMS = {
  run: ['stdout', 'stderr', 'events'],
  node: ['stdout', 'stderr'],
} as const satisfies Record<LogName['kind'], readonly LogStream[]>;

const BLOCK = 64 * 1024;

/** Where the last `lines` lines of so many bytes begin. @param readAt answers at most `length` bytes from an offset on */
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

/** The folder of a run or node below the root of a store: two levels keep folders small with millions of runs. */
export function logFolder(kind: LogName['kind'], id: number): string {
  return `${kind}/${String(id % 1000).padStart(3, '0')}/${id}`;
}
