import { constants, createReadStream } from 'node:fs';
import { mkdir, open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { findLineStart, logFolder, type LogName, LogStore, type OpenLog } from './log-store';

/** Stores logs as files of a directory that all API pods share. */
export class DirectoryLogStore extends LogStore {
  readonly needsCompaction = false;

  constructor(private readonly root: string) {
    super();
  }

  resumeAt(log: LogName): Promise<number> {
    return this.size(log);
  }

  async write(log: LogName, offset: number, chunk: Buffer): Promise<number> {
    const path = this.path(log);
    const size = await this.size(log);
    if (offset > size || chunk.length === 0) return size;
    await mkdir(dirname(path), { recursive: true });
    // No truncation, so that a concurrent first chunk survives; no append mode, so that the offset counts.
    const file = await open(path, constants.O_CREAT | constants.O_WRONLY, 0o600);
    try {
      await file.write(chunk, 0, chunk.length, offset);
    } finally {
      await file.close();
    }
    return Math.max(size, offset + chunk.length);
  }

  async open(log: LogName): Promise<OpenLog> {
    const path = this.path(log);
    const size = await this.size(log);
    return {
      size,
      offsetOfLastLines: (lines) => offsetOfLastLines(path, size, lines),
      read: (offset, length) =>
        offset >= size || length <= 0
          ? Readable.from([])
          : createReadStream(path, { start: offset, end: Math.min(size, offset + length) - 1 }),
    };
  }

  async delete(kind: LogName['kind'], id: number): Promise<void> {
    await rm(this.folder(kind, id), { recursive: true, force: true });
  }

  async compact(): Promise<void> {
    // A log is a single file from the beginning.
  }

  private async size(log: LogName): Promise<number> {
    return (await stat(this.path(log)).catch(() => ({ size: 0 }))).size;
  }

  private path(log: LogName): string {
    return join(this.folder(log.kind, log.id), log.stream);
  }

  private folder(kind: LogName['kind'], id: number): string {
    return join(this.root, logFolder(kind, id));
  }
}

async function offsetOfLastLines(path: string, size: number, lines: number): Promise<number> {
  if (size === 0) return 0;
  const file = await open(path, 'r');
  try {
    return await findLineStart(size, lines, async (offset, length) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
      return buffer.subarray(0, bytesRead);
    });
  } finally {
    await file.close();
  }
}
