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

/** This many bytes of one upload pass between two checks of the room left. */
const LOOK_EVERY_BYTES = 16 * 2 ** 20;

/**
 * Blobs as files of a directory that all API pods share. They appear under their keys when all their bytes are on disk, so a
 * crash or a cut-off upload leaves at most a temporary file, which {@link sweep} removes.
 */
export class DirectoryBlobStore extends BlobStore {
  /** @param reserveBytes what uploads leave free in the file system, for everything else that is written there */
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
    // The source may fail before its first byte is asked for; without a listener that ends the process.
    source.on('error', () => {});
    let lookAt = LOOK_EVERY_BYTES;
    const meter = new BlobMeter(maxBytes, (size) => {
      if (size < lookAt) return null;
      lookAt = size + LOOK_EVERY_BYTES;
      return this.assertSpace(0);
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
    return meter.blob(key);
  }

  async read(key: string, range: { start?: number; end?: number } = {}): Promise<Readable> {
    const file = await open(this.path(key)).catch((error: unknown) => {
      throw new BlobStoreError('absent', 'The file is no longer in the store.', { cause: error });
    });
    return file.createReadStream(range);
  }

  async delete(key: string): Promise<void> {
    await rm(this.path(key), { force: true });
  }

  /** Takes temporary files along. */
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
    if (!BLOB_KEY.test(key)) throw new BlobStoreError('absent', 'The file is not in the store.');
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
