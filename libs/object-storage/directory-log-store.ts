import { constants, createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { LogStream } from '../contracts/agent-protocol';

/** Which log: of a run or of a node. */
export interface LogName {
  kind: 'run' | 'node';
  id: number;
  stream: LogStream;
}

const BLOCK = 64 * 1024;

/**
 * Append-only logs in a directory that all API pods share, addressed by byte offset: writing a chunk again at its
 * offset changes nothing, so agents may repeat themselves and a tail resumes anywhere.
 */
export class DirectoryLogStore {
  constructor(private readonly root: string) {}

  /** Bytes held; 0 for a log nobody wrote. */
  async size(log: LogName): Promise<number> {
    return (await stat(this.path(log)).catch(() => ({ size: 0 }))).size;
  }

  /** Writes the chunk at its offset and answers the size. A chunk that would leave a gap is not written. */
  async write(log: LogName, offset: number, chunk: Buffer): Promise<number> {
    const path = this.path(log);
    const size = await this.size(log);
    if (offset > size || chunk.length === 0) return size;
    await mkdir(dirname(path), { recursive: true });
    // No truncation and no append mode: the position must hold, and a concurrent first chunk must survive.
    const file = await open(path, constants.O_CREAT | constants.O_WRONLY, 0o600);
    try {
      await file.write(chunk, 0, chunk.length, offset);
    } finally {
      await file.close();
    }
    return Math.max(size, offset + chunk.length);
  }

  /** The log from an offset on, at most `length` bytes; empty for a log nobody wrote. */
  async read(log: LogName, offset = 0, length = Number.MAX_SAFE_INTEGER): Promise<Readable> {
    const size = await this.size(log);
    if (offset >= size || length <= 0) return Readable.from([]);
    return createReadStream(this.path(log), { start: offset, end: Math.min(size, offset + length) - 1 });
  }

  /** Offset at which the last `lines` lines begin; an unfinished last line counts as one. */
  async offsetOfLastLines(log: LogName, lines: number): Promise<number> {
    const size = await this.size(log);
    if (size === 0) return 0;
    const file = await open(this.path(log), 'r');
    try {
      return await findLineStart(file, size, lines);
    } finally {
      await file.close();
    }
  }

  async delete(kind: LogName['kind'], id: number): Promise<void> {
    await rm(this.directory(kind, id), { recursive: true, force: true });
  }

  private path(log: LogName): string {
    return join(this.directory(log.kind, log.id), log.stream);
  }

  private directory(kind: LogName['kind'], id: number): string {
    // Two levels keep directories small with millions of runs.
    return join(this.root, kind, String(id % 1000).padStart(3, '0'), String(id));
  }
}

async function findLineStart(file: FileHandle, size: number, lines: number): Promise<number> {
  const block = Buffer.alloc(BLOCK);
  let found = 0;
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - BLOCK);
    const { bytesRead } = await file.read(block, 0, end - start, start);
    for (let index = bytesRead - 1; index >= 0; index -= 1) {
      // The newline that ends the last line begins no further one.
      if (block[index] !== 0x0a || start + index === size - 1) continue;
      found += 1;
      if (found === lines) return start + index + 1;
    }
    end = start;
  }
  return 0;
}
