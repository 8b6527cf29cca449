import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  BLOB_KEY,
  BlobMeter,
  BlobStore,
  BlobStoreError,
  newBlobKey,
  sourceFailure,
  type StoredBlob,
} from './blob-store';

/** Bytes of one upload between two checks of the free space. */
const SPACE_CHECK_BYTES = 16 * 2 ** 20;

/**
 * Stores blobs as files of a directory that all API pods share. A file gets its key when all its bytes are on disk, so a
 * crash or an interrupted upload leaves at most a temporary file, which {@link sweep} removes.
 */
export class DirectoryBlobStore extends BlobStore {
  /** @param reserveBytes free space that uploads leave to other files of the file system */
  constructor(
    private readonly root: string,
    private readonly reserveBytes = 0,
  ) {
    super();
  }

  async assertSpace(bytes: number): Promise<void> {
    await mkdir(join(this.root, 'incoming'), { recursive: true });
    const { bavail, bsize } = await statfs(join(this.root, 'incoming'));
    if (bavail * bsize - bytes < this.reserveBytes) throw new BlobStoreError('no-space', 'The file store is full.');
  }

  async write(source: Readable, maxBytes: number): Promise<StoredBlob> {
    const key = newBlobKey();
    const temporary = join(this.root, 'incoming', randomUUID());
    // The source may fail before anything reads it; without a listener, that error would end the process.
    source.on('error', () => {});
    let nextCheck = SPACE_CHECK_BYTES;
    const meter = new BlobMeter(maxBytes, (size) => {
      if (size < nextCheck) return null;
      nextCheck = size + SPACE_CHECK_BYTES;
      return this.assertSpace(0);
    });
    try {
      await this.assertSpace(0);
      // Wait until the file is open: if the source failed before, the file would appear after its removal.
      const file = await open(temporary, 'wx', 0o600);
      await pipeline(source, meter, file.createWriteStream({ flush: true }));
      await mkdir(join(this.root, key.slice(0, 2)), { recursive: true });
      await rename(temporary, join(this.root, key));
    } catch (error) {
      await rm(temporary, { force: true });
      throw asBlobError(error);
    }
    return meter.blob(key);
  }

  async read(key: string, range: { start?: number; end?: number } = {}): Promise<Readable> {
    const file = await open(this.path(key)).catch((error: unknown) => {
      throw new BlobStoreError('absent', 'The file no longer exists in the file store.', { cause: error });
    });
    return file.createReadStream(range);
  }

  async addressOf(): Promise<null> {
    return null;
  }

  async delete(key: string): Promise<void> {
    await rm(this.path(key), { force: true });
  }

  /** Removes old temporary files, too. */
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
    if (!BLOB_KEY.test(key)) throw new BlobStoreError('absent', 'The file does not exist in the file store.');
    return join(this.root, key);
  }
}

async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => []);
}

function asBlobError(error: unknown): Error {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new BlobStoreError('no-space', 'The file store is full.', { cause: error });
  }
  return sourceFailure(error);
}
