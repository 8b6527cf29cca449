import { mkdtemp, readdir, rm, statfs, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { BlobStoreError, DirectoryBlobStore } from './directory-blob-store';

describe('DirectoryBlobStore', () => {
  let root: string;
  let store: DirectoryBlobStore;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'blobs-'));
    store = new DirectoryBlobStore(root);
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('gives back what was written, whole and in part', async () => {
    const blob = await store.write(Readable.from([Buffer.from('hello '), Buffer.from('world')]), 100);
    expect(blob.size).toBe(11);
    expect(blob.sha256).toBe('b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9');
    expect(String(await buffer(await store.read(blob.key)))).toBe('hello world');
    expect(String(await buffer(await store.read(blob.key, { start: 6, end: 8 })))).toBe('wor');
  });

  it('leaves nothing of an upload that is too large or cut off', async () => {
    await expect(store.write(Readable.from([Buffer.alloc(11)]), 10)).rejects.toMatchObject({ problem: 'too-large' });
    const broken = new Readable({
      read() {
        this.push('part');
        this.destroy();
      },
    });
    await expect(store.write(broken, 100)).rejects.toMatchObject({ problem: 'cut-off' });
    expect(await readdir(join(root, 'incoming'))).toEqual([]);
  });

  it('leaves the reserve free, before the first byte and while bytes come', async () => {
    const { bavail, bsize } = await statfs(root);
    await expect(store.assertSpace(bavail * bsize * 2)).rejects.toMatchObject({ problem: 'no-space' });
    const full = new DirectoryBlobStore(root, bavail * bsize * 2);
    await expect(full.write(Readable.from(['part']), 100)).rejects.toMatchObject({ problem: 'no-space' });
    const looks = jest.spyOn(store, 'assertSpace').mockResolvedValueOnce();
    looks.mockRejectedValueOnce(new BlobStoreError('no-space', 'The file store is full.'));
    const mebibytes = Array.from({ length: 20 }, () => Buffer.alloc(2 ** 20));
    await expect(store.write(Readable.from(mebibytes), 2 ** 30)).rejects.toMatchObject({ problem: 'no-space' });
    expect(await readdir(join(root, 'incoming'))).toEqual([]);
  });

  it('takes a source that fails at once for cut off', async () => {
    const gone = Object.assign(new Error('gone'), { code: 'ECONNRESET' });
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const source = new Readable({ read: () => {} });
      const written = store.write(source, 100);
      source.destroy(gone);
      await expect(written).rejects.toMatchObject({ problem: 'cut-off' });
    }
    expect(await readdir(join(root, 'incoming'))).toEqual([]);
  });

  it('answers absent for a key it does not have and for one that is a path', async () => {
    await expect(store.read('ab/00000000-0000-0000-0000-000000000000')).rejects.toMatchObject({ problem: 'absent' });
    await expect(store.read('../../etc/passwd')).rejects.toMatchObject({ problem: 'absent' });
  });

  it('sweeps old blobs that nobody claims', async () => {
    const kept = await store.write(Readable.from(['kept']), 100);
    const lost = await store.write(Readable.from(['lost']), 100);
    const fresh = await store.write(Readable.from(['fresh']), 100);
    const old = new Date(Date.now() - 60_000);
    for (const blob of [kept, lost]) await utimes(join(root, blob.key), old, old);
    expect(await store.sweep(30_000, (keys) => Promise.resolve(new Set(keys.filter((key) => key === kept.key))))).toBe(
      1,
    );
    await expect(store.read(lost.key)).rejects.toMatchObject({ problem: 'absent' });
    for (const [blob, content] of [
      [kept, 'kept'],
      [fresh, 'fresh'],
    ] as const)
      expect(String(await buffer(await store.read(blob.key)))).toBe(content);
  });
});
