import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { collectGarbage } from '../../test/harness/collect-garbage';
import type { BlobStore } from './blob-store';

export interface BlobStoreUnderTest {
  store: BlobStore;
  /** The same store, as another process opens it. */
  other: BlobStore;
  /** The resolution of the store's timestamps, milliseconds. */
  tickMs: number;
  /** Counts the objects or files, including parts of uploads. */
  pieces: () => Promise<number>;
  close: () => Promise<void>;
}

const MEBIBYTE = 2 ** 20;
/** Memory is measured when so much of a big file has passed. */
const MEASURED_BYTES = 20 * MEBIBYTE;

/** Tests that every store of workspace files must pass. */
export function describeBlobStoreContract(name: string, makeStore: () => Promise<BlobStoreUnderTest>): void {
  describe(`${name} holds the blob store contract`, () => {
    let tested: BlobStoreUnderTest;
    let store: BlobStore;

    beforeAll(async () => {
      tested = await makeStore();
      store = tested.store;
    });
    afterAll(() => tested.close());
    afterEach(async () => {
      await later();
      await store.sweep(0, () => Promise.resolve(new Set()));
      expect(await tested.pieces()).toBe(0);
    });

    const later = () => new Promise((resolve) => setTimeout(resolve, tested.tickMs));
    const of = (...parts: string[]) => Readable.from(parts.map((part) => Buffer.from(part)));

    it('returns a blob to every process, whole and in part', async () => {
      const blob = await store.write(of('hello ', 'world'), 100, 11);
      expect(blob.size).toBe(11);
      expect(blob.sha256).toBe('b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9');
      expect(String(await buffer(await tested.other.read(blob.key)))).toBe('hello world');
      expect(String(await buffer(await store.read(blob.key, { start: 6, end: 8 })))).toBe('wor');
      expect(String(await buffer(await store.read(blob.key, { start: 6 })))).toBe('world');
    });

    it('stores an empty file', async () => {
      const blob = await store.write(of(), 100);
      expect(blob.size).toBe(0);
      expect(String(await buffer(await store.read(blob.key)))).toBe('');
    });

    it('leaves nothing of an upload that is too large or interrupted', async () => {
      await expect(store.write(of('x'.repeat(11)), 10)).rejects.toMatchObject({ problem: 'too-large' });
      const broken = new Readable({
        read() {
          this.push('part');
          this.destroy();
        },
      });
      await expect(store.write(broken, 100)).rejects.toMatchObject({ problem: 'cut-off' });
      const gone = Object.assign(new Error('gone'), { code: 'ECONNRESET' });
      const large = Readable.from(
        (function* () {
          for (let sent = 0; sent < 20; sent += 1) yield Buffer.alloc(MEBIBYTE);
          throw gone;
        })(),
      );
      await expect(store.write(large, 2 ** 30)).rejects.toMatchObject({ problem: 'cut-off' });
      expect(await tested.pieces()).toBe(0);
    });

    it('reports a source that fails at once as cut off', async () => {
      const gone = Object.assign(new Error('gone'), { code: 'ECONNRESET' });
      for (let attempt = 0; attempt < 20; attempt += 1) {
        const source = new Readable({ read: () => {} });
        const written = store.write(source, 100);
        source.destroy(gone);
        await expect(written).rejects.toMatchObject({ problem: 'cut-off' });
      }
      expect(await tested.pieces()).toBe(0);
    });

    it('fails with the error of its source', async () => {
      const refusal = new Error('the quota is used up');
      const source = new Readable({
        read() {
          this.destroy(refusal);
        },
      });
      await expect(store.write(source, 100)).rejects.toBe(refusal);
    });

    it('reports an unknown key, and a key that is a path, as absent', async () => {
      await expect(store.read('ab/00000000-0000-0000-0000-000000000000')).rejects.toMatchObject({ problem: 'absent' });
      await expect(store.read('../../etc/passwd')).rejects.toMatchObject({ problem: 'absent' });
      const blob = await store.write(of('content'), 100);
      await store.delete(blob.key);
      await store.delete(blob.key);
      await expect(store.read(blob.key)).rejects.toMatchObject({ problem: 'absent' });
    });

    it('sweeps old blobs that nobody claims', async () => {
      const [kept, lost] = [await store.write(of('kept'), 100), await store.write(of('lost'), 100)];
      const isUsed = (keys: string[]) => Promise.resolve(new Set(keys.filter((key) => key === kept.key)));
      expect(await store.sweep(60_000, isUsed)).toBe(0);
      await later();
      expect(await store.sweep(0, isUsed)).toBe(1);
      await expect(store.read(lost.key)).rejects.toMatchObject({ problem: 'absent' });
      expect(String(await buffer(await store.read(kept.key)))).toBe('kept');
    });

    it('carries a big file both ways in bounded memory', async () => {
      const [part, parts] = [randomBytes(MEBIBYTE), 160];
      const hash = createHash('sha256');
      let [peak, due] = [0, 0];
      const measure = (passed: number) => {
        if (passed < due) return;
        due = passed + MEASURED_BYTES;
        collectGarbage();
        peak = Math.max(peak, process.memoryUsage().arrayBuffers);
      };
      const source = Readable.from(
        (function* () {
          for (let sent = 0; sent < parts; sent += 1) {
            hash.update(part);
            measure(sent * MEBIBYTE);
            yield part;
          }
        })(),
      );
      collectGarbage();
      const before = process.memoryUsage().arrayBuffers;
      const blob = await store.write(source, 2 ** 30);
      expect([blob.size, blob.sha256]).toEqual([parts * MEBIBYTE, hash.digest('hex')]);
      let bytes = 0;
      due = 0;
      for await (const chunk of await store.read(blob.key)) {
        bytes += (chunk as Buffer).length;
        measure(bytes);
      }
      expect(bytes).toBe(blob.size);
      expect(peak - before).toBeLessThan(64 * MEBIBYTE);
    }, 120_000);
  });
}
