import { mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { BlobStoreError } from './blob-store';
import { describeBlobStoreContract } from './blob-store.contract';
import { DirectoryBlobStore } from './directory-blob-store';

describeBlobStoreContract('A directory', async () => {
  const root = await mkdtemp(join(tmpdir(), 'blobs-'));
  const store = new DirectoryBlobStore(root);
  return {
    store,
    other: new DirectoryBlobStore(root),
    tickMs: 20,
    pieces: async () =>
      (await readdir(root, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).length,
    close: () => rm(root, { recursive: true }),
  };
});

describe('DirectoryBlobStore', () => {
  let root: string;
  let store: DirectoryBlobStore;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'blobs-'));
    store = new DirectoryBlobStore(root);
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('leaves the reserve free, before the first byte and while bytes arrive', async () => {
    const { bavail, bsize } = await statfs(root);
    await expect(store.assertSpace(bavail * bsize * 2)).rejects.toMatchObject({ problem: 'no-space' });
    const full = new DirectoryBlobStore(root, bavail * bsize * 2);
    await expect(full.write(Readable.from(['part']), 100)).rejects.toMatchObject({ problem: 'no-space' });
    const checks = jest.spyOn(store, 'assertSpace').mockResolvedValueOnce();
    checks.mockRejectedValueOnce(new BlobStoreError('no-space', 'The file store is full.'));
    const mebibytes = Array.from({ length: 20 }, () => Buffer.alloc(2 ** 20));
    await expect(store.write(Readable.from(mebibytes), 2 ** 30)).rejects.toMatchObject({ problem: 'no-space' });
    expect(await readdir(join(root, 'incoming'))).toEqual([]);
  });
});
