import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A stored file: its key in the store, its length in bytes and the SHA-256 of its content in hex. */
export interface StoredBlob {
  key: string;
  size: number;
  sha256: string;
}

export type BlobProblem = 'too-large' | 'no-space' | 'cut-off' | 'absent';

/** Why a blob could not be written or read; nothing half-made stays. */
export class BlobStoreError extends Error {
  constructor(
    readonly problem: BlobProblem,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'BlobStoreError';
  }
}

/** So many bytes of one upload pass between two looks at the room that is left. */
const LOOK_EVERY_BYTES = 16 * 2 ** 20;

const KEY = /^[0-9a-f]{2}\/[0-9a-f-]{36}$/;

/**
 * Immutable files in a directory that all API pods share. A blob appears under its key only when all its bytes are on
 * disk, so a crash or a cut-off upload leaves at most a temporary file, which {@link sweep} removes.
 */
export class DirectoryBlobStore {
  /** @param reserveBytes what uploads leave free in the file system, for all else that is written there */
  constructor(
    private readonly root: string,
    private readonly reserveBytes = 0,
  ) {}

  /** Throws `no-space` when so many bytes more would leave less than the reserve. */
  async assertSpace(bytes: number): Promise<void> {
    await mkdir(join(this.root, 'incoming'), { recursive: true });
    const { bavail, bsize } = await statfs(join(this.root, 'incoming'));
    if (bavail * bsize - bytes < this.reserveBytes) throw new BlobStoreError('no-space', 'The file store is full.');
  }

  /** Writes the stream in constant memory; throws {@link BlobStoreError}. */
  async write(source: Readable, maxBytes: number): Promise<StoredBlob> {
    const id = randomUUID();
    const key = `${id.slice(0, 2)}/${id}`;
    const temporary = join(this.root, 'incoming', id);
    // The source may fail before its first byte is asked for; without a listener that ends the process.
    source.on('error', () => {});
    const hash = createHash('sha256');
    let size = 0;
    let lookAt = LOOK_EVERY_BYTES;
    const meter = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        size += chunk.length;
        hash.update(chunk);
        if (size > maxBytes) done(new BlobStoreError('too-large', `The file is larger than ${maxBytes} bytes.`));
        else if (size < lookAt) done(null, chunk);
        else {
          lookAt = size + LOOK_EVERY_BYTES;
          this.assertSpace(0).then(() => done(null, chunk), done);
        }
      },
    });
    try {
      await this.assertSpace(0);
      // Opened before the source can fail: a file still being opened would appear after its removal.
      const file = await open(temporary, 'wx', 0o600);
      await pipeline(source, meter, file.createWriteStream({ flush: true }));
      await mkdir(join(this.root, key.slice(0, 2)), { recursive: true });
      await rename(temporary, join(this.root, key));
    } catch (error) {
      await rm(temporary, { force: true });
      throw asBlobError(error);
    }
    return { key, size, sha256: hash.digest('hex') };
  }

  /** Opens a blob, whole or a range of it (`end` inclusive); throws `absent` when the store does not have it. */
  async read(key: string, range: { start?: number; end?: number } = {}): Promise<Readable> {
    const file = await open(this.path(key)).catch((error: unknown) => {
      throw new BlobStoreError('absent', 'The file is not in the store any more.', { cause: error });
    });
    return file.createReadStream(range);
  }

  async delete(key: string): Promise<void> {
    await rm(this.path(key), { force: true });
  }

  /** Removes temporary files older than the given age and blobs as old that `isUsed` does not claim. Answers how many. */
  async sweep(olderThanMs: number, isUsed: (keys: string[]) => Promise<Set<string>>): Promise<number> {
    const limit = Date.now() - olderThanMs;
    let removed = 0;
    for (const folder of await namesIn(this.root)) {
      const names = await namesIn(join(this.root, folder));
      const old: string[] = [];
      for (const name of names) {
        const { mtimeMs } = await stat(join(this.root, folder, name)).catch(() => ({ mtimeMs: Infinity }));
        if (mtimeMs < limit) old.push(name);
      }
      const used = folder === 'incoming' ? new Set<string>() : await isUsed(old.map((name) => `${folder}/${name}`));
      for (const name of old) {
        if (used.has(`${folder}/${name}`)) continue;
        await rm(join(this.root, folder, name), { force: true });
        removed += 1;
      }
    }
    return removed;
  }

  private path(key: string): string {
    if (!KEY.test(key)) throw new BlobStoreError('absent', 'The file is not in the store.');
    return join(this.root, key);
  }
}

async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => []);
}

function asBlobError(error: unknown): Error {
  if (error instanceof BlobStoreError) return error;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new BlobStoreError('no-space', 'The file store is full.', { cause: error });
  }
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNABORTED') {
    return new BlobStoreError('cut-off', 'The upload ended before all bytes had arrived.', { cause: error });
  }
  return error instanceof Error ? error : new Error(String(error));
}
