import { createHash, type Hash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { type ObjectStore, ObjectStoreError, type StoreEntry, type StoreTimeouts } from './object-store';

/** An adapter under test: an empty bucket of a real server. */
export interface StoreUnderTest {
  store: ObjectStore;
  /** A bucket that does not exist, with the same credential. */
  missingBucket: ObjectStore;
  /** The same bucket with a wrong secret; null if the server checks none. */
  wrongSecret: { store: ObjectStore; secret: string } | null;
  /** A bucket whose addresses the server serves, and whether it checks their signatures. */
  signer: { store: ObjectStore; isChecked: boolean };
  /** Opens the same store at another address. */
  at: (url: string, timeouts: StoreTimeouts) => ObjectStore;
  /** Lists unfinished uploads; null if the server cannot list them. */
  unfinishedUploads: (() => Promise<string[]>) | null;
  close: () => Promise<void>;
}

const MEBIBYTE = 2 ** 20;
const LONG_TIMEOUTS: StoreTimeouts = { callMs: 30_000, idleMs: 30_000 };
const SHORT_TIMEOUTS: StoreTimeouts = { callMs: 400, idleMs: 400 };

/** The time limit of a call with {@link SHORT_TIMEOUTS} on a busy machine. */
const MAX_CALL_MS = 25_000;

/** Tests that every object store must pass, whatever its provider. */
export function describeObjectStoreContract(name: string, makeStore: () => Promise<StoreUnderTest>): void {
  describe(`${name} holds the object store contract`, () => {
    let tested: StoreUnderTest;
    let store: ObjectStore;

    beforeAll(async () => {
      tested = await makeStore();
      store = tested.store;
    });
    afterAll(() => tested.close());
    afterEach(async () => {
      for (const { path, kind } of await allOf('')) {
        if (kind === 'directory') await store.deleteDirectory(path);
        else await store.deleteFile(path);
      }
    });

    const put = (path: string, content = path): Promise<StoreEntry> =>
      store.write(path, Readable.from([Buffer.from(content)]), { overwrite: true });

    const allOf = async (directory: string, options: { recursive?: boolean; limit?: number } = {}) => {
      const entries: StoreEntry[] = [];
      let token: string | null = null;
      do {
        const page = await store.list(directory, { ...options, token });
        expect(page.entries.length).toBeLessThanOrEqual(options.limit ?? 1000);
        entries.push(...page.entries);
        token = page.nextToken;
      } while (token !== null);
      return entries;
    };

    const names = async (directory: string, options: { recursive?: boolean; limit?: number } = {}) =>
      (await allOf(directory, options)).map(({ path, kind }) => (kind === 'directory' ? `${path}/` : path));

    const contentOf = async (path: string, range?: { start: number; end?: number }) =>
      text((await store.read(path, { range })).stream);

    const expectEmpty = async (): Promise<void> => {
      expect(await names('', { recursive: true })).toEqual([]);
      if (tested.unfinishedUploads) expect(await tested.unfinishedUploads()).toEqual([]);
    };

    it('is empty at first, and passes its check', async () => {
      await store.check();
      expect(await store.list('')).toEqual({ entries: [], nextToken: null });
      expect(await store.list('nowhere')).toEqual({ entries: [], nextToken: null });
      expect(await store.stat('nowhere')).toBeNull();
      expect(await store.stat('')).toMatchObject({ path: '', kind: 'directory' });
    });

    it('returns a file with its size, type and date', async () => {
      const started = Date.now();
      const source = Readable.from([Buffer.from('hello '), 'world']);
      const options = { overwrite: false, sizeBytes: 11, contentType: 'text/plain' };
      const written = await store.write('greeting.txt', source, options);
      expect(written).toMatchObject({ path: 'greeting.txt', kind: 'file', sizeBytes: 11, contentType: 'text/plain' });
      const found = await store.stat('greeting.txt');
      expect(found).toEqual(written);
      // Stores round dates to seconds.
      expect(Math.abs((found?.lastModified?.getTime() ?? 0) - started)).toBeLessThan(60_000);
      const { entry, stream } = await store.read('greeting.txt');
      expect(entry).toMatchObject({ path: 'greeting.txt', kind: 'file', sizeBytes: 11, contentType: 'text/plain' });
      expect(await text(stream)).toBe('hello world');
      expect((await store.list('')).entries).toMatchObject([{ path: 'greeting.txt', kind: 'file', sizeBytes: 11 }]);
    });

    it('stores an empty file', async () => {
      const written = await store.write('empty', Readable.from([]), { overwrite: false, sizeBytes: 0 });
      expect(written.sizeBytes).toBe(0);
      expect(await store.stat('empty')).toMatchObject({ kind: 'file', sizeBytes: 0 });
      expect(await contentOf('empty')).toBe('');
    });

    it('stores a buffer, and deletes several files at once', async () => {
      await store.put('at/once', Buffer.from('content'), { overwrite: false });
      await store.put('at/once-empty', Buffer.alloc(0), { overwrite: false });
      expect(await contentOf('at/once')).toBe('content');
      const again = store.put('at/once', Buffer.from('other'), { overwrite: false });
      await expect(again).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
      expect(await contentOf('at/once')).toBe('content');
      await store.put('at/once', Buffer.from('other'), { overwrite: true });
      expect(await contentOf('at/once')).toBe('other');
      await store.deleteFiles([]);
      await store.deleteFiles(['at/once', 'at/once-empty', 'absent']);
      expect(await names('', { recursive: true })).toEqual([]);
    });

    it('reads parts of a file', async () => {
      await put('digits', '0123456789');
      expect(await contentOf('digits', { start: 2, end: 4 })).toBe('234');
      expect(await contentOf('digits', { start: 7 })).toBe('789');
      expect(await contentOf('digits', { start: 8, end: 100 })).toBe('89');
      const { entry, stream } = await store.read('digits', { range: { start: 0, end: 0 } });
      expect(entry.sizeBytes).toBe(10);
      expect(await text(stream)).toBe('0');
      await expect(store.read('digits', { range: { start: 10 } })).rejects.toMatchObject({ code: 'INVALID_RANGE' });
      await expect(store.read('digits', { range: { start: 4, end: 3 } })).rejects.toMatchObject({
        code: 'INVALID_RANGE',
      });
    });

    it('lists directories with or without their contents', async () => {
      for (const path of ['b.txt', 'a/1', 'a/2', 'a/deep/er/3', 'a.txt', 'c/4']) await put(path);
      expect(await names('')).toEqual(['a.txt', 'a/', 'b.txt', 'c/']);
      expect(await names('a')).toEqual(['a/1', 'a/2', 'a/deep/']);
      expect(await names('a/deep')).toEqual(['a/deep/er/']);
      expect(await names('', { recursive: true })).toEqual([
        ...['a.txt', 'a/', 'a/1', 'a/2', 'a/deep/', 'a/deep/er/', 'a/deep/er/3', 'b.txt', 'c/', 'c/4'],
      ]);
      expect(await names('a/deep', { recursive: true })).toEqual(['a/deep/er/', 'a/deep/er/3']);
      expect(await store.stat('a/deep')).toMatchObject({ path: 'a/deep', kind: 'directory', sizeBytes: 0 });
      expect(await store.stat('a/dee')).toBeNull();
    });

    it('returns the same list in pages of any size', async () => {
      for (const path of ['a/b/c/1', 'a/b/c/2', 'a/b/2', 'a/3', 'a-4', 'b/5', 'b/c/6', 'z']) await put(path);
      const [flat, below] = [await names(''), await names('', { recursive: true })];
      expect(flat).toEqual(['a-4', 'a/', 'b/', 'z']);
      expect(below).toHaveLength(8 + 5);
      for (const limit of [1, 2, 3, 5]) {
        expect(await names('', { limit })).toEqual(flat);
        expect(await names('', { limit, recursive: true })).toEqual(below);
      }
    });

    it('refuses a foreign page token, and a page size of 0 or above 1000', async () => {
      for (const bad of [
        { token: 'x' },
        { token: Buffer.from('[1]').toString('base64url') },
        { limit: 0 },
        { limit: 1001 },
      ]) {
        await expect(store.list('', bad)).rejects.toMatchObject({ code: 'INVALID_REQUEST', retryable: false });
      }
    });

    it('creates directories, even twice, and keeps empty ones', async () => {
      await store.makeDirectory('empty');
      await store.makeDirectory('empty');
      await store.makeDirectory('above/below');
      await put('full/file');
      await store.makeDirectory('full');
      expect(await names('')).toEqual(['above/', 'empty/', 'full/']);
      expect(await names('empty')).toEqual([]);
      expect(await names('', { recursive: true })).toEqual(['above/', 'above/below/', 'empty/', 'full/', 'full/file']);
      expect(await store.stat('empty')).toMatchObject({ path: 'empty', kind: 'directory', sizeBytes: 0 });
      await expect(store.makeDirectory('full/file')).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
      await expect(store.read('empty')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    });

    it.each(['ü/名前 🎉.txt', 'a b/c  d', "it's+100%&?#=;,@!.txt", 'x'.repeat(200), `${'d/'.repeat(50)}ß`])(
      'accepts the name %s',
      async (path) => {
        await put(path, 'content');
        expect((await names('', { recursive: true })).at(-1)).toBe(path);
        expect(await store.stat(path)).toMatchObject({ path, kind: 'file', sizeBytes: 7 });
        expect(await contentOf(path)).toBe('content');
        const directory = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
        expect(await names(directory)).toEqual([path]);
        await store.deleteFile(path);
        expect(await store.stat(path)).toBeNull();
      },
    );

    it('signs an address that sends one file as a download, to anyone and for some time', async () => {
      const { store: signer, isChecked } = tested.signer;
      const path = 'ü/a b+c?.html';
      for (const one of [path, 'other'])
        await signer.put(one, Buffer.from('<b>content</b>'), { overwrite: true, contentType: 'text/html' });
      const contentDisposition = `attachment; filename="_.html"; filename*=UTF-8''%C3%BC.html`;
      const headers = { contentDisposition, contentType: 'application/octet-stream' };
      const addressOf = async (validSeconds: number) =>
        (await signer.addressOf(path, { ...headers, validSeconds })) ?? '';
      const address = await addressOf(60);
      const response = await fetch(address);
      expect(response.status).toBe(200);
      expect(await response.text()).toBe('<b>content</b>');
      expect(response.headers.get('content-disposition')).toBe(contentDisposition);
      expect(response.headers.get('content-type')).toBe('application/octet-stream');
      if (!isChecked) return;
      const { pathname } = new URL(address);
      const ofOther = address.replace(pathname, pathname.replace(/[^/]+\/[^/]+$/, 'other'));
      const expired = await addressOf(1);
      await delay(2_500);
      for (const refused of [ofOther, expired]) expect((await fetch(refused)).status).toBe(403);
      expect((await fetch(address, { method: 'DELETE' })).status).toBe(403);
    });

    it.each(['', '/a', 'a/', 'a//b', '../a', 'a/../b', './a', 'a/.', 'a\nb', 'a\u0000', 'x'.repeat(1024), '\ud800'])(
      'refuses the path %j',
      async (path) => {
        const calls = [
          () => store.write(path, Readable.from(['x']), { overwrite: true }),
          () => store.read(path),
          () => store.makeDirectory(path),
          () => store.deleteFile(path),
          () => store.deleteDirectory(path),
        ];
        for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
      },
    );

    it('replaces a file only with overwrite', async () => {
      await put('file', 'first');
      const write = (overwrite: boolean, content: string) =>
        store.write('file', Readable.from([content]), { overwrite });
      await expect(write(false, 'second')).rejects.toMatchObject({ code: 'ALREADY_EXISTS', retryable: false });
      expect(await contentOf('file')).toBe('first');
      await write(true, 'third');
      expect(await contentOf('file')).toBe('third');
    });

    it('lets one of two writers without overwrite win', async () => {
      // Both writers find no file before either ends: each source waits until the other is read.
      const [first, second] = twoSourcesThatMeet();
      const outcomes = await Promise.allSettled(
        [first, second].map((source) => store.write('contested', source, { overwrite: false })),
      );
      const lost = outcomes.filter((outcome) => outcome.status === 'rejected');
      expect(lost).toHaveLength(1);
      expect(lost[0]?.reason).toMatchObject({ code: 'ALREADY_EXISTS' });
      expect(await contentOf('contested')).toMatch(/^(first|second)$/);
      await store.deleteFile('contested');
      await expectEmpty();
    });

    it.each([
      ['known', 20 * MEBIBYTE + 12_345],
      ['known', 16 * MEBIBYTE],
      ['unknown', 20 * MEBIBYTE + 12_345],
      ['unknown', 16 * MEBIBYTE],
    ])('stores a large file whose size is %s (%i bytes)', async (knowledge, size) => {
      const sent = createHash('sha256');
      const options = { overwrite: false, ...(knowledge === 'known' ? { sizeBytes: size } : {}) };
      expect((await store.write('large', noise(size, sent), options)).sizeBytes).toBe(size);
      const { entry, stream } = await store.read('large');
      expect(entry.sizeBytes).toBe(size);
      const received = createHash('sha256');
      for await (const chunk of stream) received.update(chunk as Buffer);
      expect(received.digest('hex')).toBe(sent.digest('hex'));
      const around = await store.read('large', { range: { start: 8 * MEBIBYTE - 5, end: 8 * MEBIBYTE + 4 } });
      expect((await buffer(around.stream)).length).toBe(10);
      if (tested.unfinishedUploads) expect(await tested.unfinishedUploads()).toEqual([]);
    });

    it.each([
      ['more', 20 * MEBIBYTE, 18 * MEBIBYTE],
      ['less', 18 * MEBIBYTE, 20 * MEBIBYTE],
      ['more', 10, 9],
      ['less', 9, 10],
    ])('leaves nothing of a source with %s bytes than announced (%i for %i)', async (_case, size, sizeBytes) => {
      const write = store.write('file', noise(size), { overwrite: true, sizeBytes });
      await expect(write).rejects.toMatchObject({ code: 'SIZE_MISMATCH', retryable: false });
      await expectEmpty();
    });

    it('leaves nothing of an upload that is cancelled in the middle', async () => {
      const controller = new AbortController();
      const source = noise(64 * MEBIBYTE, undefined, (sent) => sent > 20 * MEBIBYTE && controller.abort());
      const write = store.write('file', source, { overwrite: true, signal: controller.signal });
      await expect(write).rejects.toMatchObject({ code: 'CANCELLED' });
      expect(source.destroyed).toBe(true);
      await expectEmpty();
    });

    it('leaves nothing of an upload whose source fails, and keeps the previous file', async () => {
      await put('file', 'before');
      const source = noise(64 * MEBIBYTE, undefined, (sent) => {
        if (sent > 20 * MEBIBYTE) source.destroy(new Error('connection lost'));
      });
      const write = store.write('file', source, { overwrite: true, sizeBytes: 64 * MEBIBYTE });
      await expect(write).rejects.toMatchObject({ code: 'SOURCE_FAILED', retryable: true });
      expect(await contentOf('file')).toBe('before');
      await store.deleteFile('file');
      await expectEmpty();
    });

    it('begins no upload if the signal is already aborted', async () => {
      const signal = AbortSignal.abort();
      const source = noise(100);
      await expect(store.write('file', source, { overwrite: true, signal })).rejects.toMatchObject({
        code: 'CANCELLED',
      });
      expect(source.destroyed).toBe(true);
      await expect(store.list('', { signal })).rejects.toMatchObject({ code: 'CANCELLED' });
      await expectEmpty();
    });

    it('ends a read that is cancelled or whose stream is destroyed', async () => {
      await store.write('large', noise(20 * MEBIBYTE), { overwrite: true });
      const controller = new AbortController();
      const { stream } = await store.read('large', { signal: controller.signal });
      const reading = (async () => {
        for await (const _chunk of stream) controller.abort();
      })();
      await expect(reading).rejects.toMatchObject({ code: 'CANCELLED' });
      const left = await store.read('large');
      left.stream.destroy();
      expect(await contentOf('large', { start: 0, end: 9 })).toHaveLength(10);
    });

    it('deletes files, and ignores absent ones', async () => {
      await put('a');
      await put('ab');
      await store.deleteFile('a');
      await store.deleteFile('a');
      expect(await names('')).toEqual(['ab']);
      await expect(store.read('a')).rejects.toMatchObject({ code: 'NOT_FOUND', retryable: false });
    });

    it('deletes a directory with everything below it, and nothing beside it', async () => {
      for (const path of ['a/1', 'a/b/2', 'a/b/c/3', 'ab/4', 'a.txt']) await put(path);
      await store.makeDirectory('a/empty');
      expect(await store.deleteDirectory('a')).toBe(3);
      expect(await names('', { recursive: true })).toEqual(['a.txt', 'ab/', 'ab/4']);
      expect(await store.stat('a')).toBeNull();
      expect(await store.deleteDirectory('a')).toBe(0);
    });

    it('lists and deletes more files than one request can', async () => {
      // Stores list and delete at most a thousand per request.
      const paths = Array.from({ length: 1100 }, (_, i) => `many/${String(i).padStart(4, '0')}`);
      const waiting = [...paths];
      const writer = async () => {
        for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) await put(path, 'x');
      };
      await Promise.all(Array.from({ length: 8 }, writer));
      expect(await names('many')).toEqual(paths);
      expect(await names('', { recursive: true })).toEqual(['many/', ...paths]);
      const page = await store.list('many', { limit: 700 });
      expect(page.entries).toHaveLength(700);
      expect(await store.deleteDirectory('many')).toBe(1100);
      await expectEmpty();
    }, 240_000);

    it('reports a missing bucket', async () => {
      const { missingBucket } = tested;
      const calls = [
        () => missingBucket.check(),
        () => missingBucket.list(''),
        () => missingBucket.stat('a'),
        () => missingBucket.read('a'),
        () => missingBucket.write('a', Readable.from(['x']), { overwrite: true }),
        () => missingBucket.deleteDirectory('a'),
      ];
      for (const call of calls) {
        await expect(call()).rejects.toMatchObject({ code: 'BUCKET_NOT_FOUND', retryable: false });
      }
    });

    it('reports a wrong credential, without the secret', async () => {
      if (!tested.wrongSecret) return;
      const { store: refused, secret } = tested.wrongSecret;
      const failure = await refused.check().catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ObjectStoreError);
      expect(failure).toMatchObject({ code: 'INVALID_CREDENTIALS', retryable: false });
      expect((failure as Error).message).not.toContain(secret);
      const write = refused.write('a', noise(20 * MEBIBYTE), { overwrite: true });
      await expect(write).rejects.toMatchObject({ code: 'INVALID_CREDENTIALS' });
    });

    describe('with a server that', () => {
      let server: Server | ReturnType<typeof createTcpServer>;
      let url: string;
      const listen = async (created: typeof server) => {
        server = created;
        await new Promise<void>((resolve) => created.listen(0, '127.0.0.1', resolve));
        url = `http://127.0.0.1:${(created.address() as AddressInfo).port}`;
      };
      afterEach(() => {
        if ('closeAllConnections' in server) server.closeAllConnections();
        server.close();
      });

      it('never answers: every call ends at its deadline', async () => {
        await listen(createServer(() => {}));
        const silent = tested.at(url, SHORT_TIMEOUTS);
        const calls = [
          () => silent.check(),
          () => silent.list(''),
          () => silent.stat('a'),
          () => silent.read('a'),
          () => silent.write('a', Readable.from(['x']), { overwrite: true, sizeBytes: 1 }),
          () => silent.makeDirectory('a'),
          () => silent.deleteFile('a'),
          () => silent.deleteDirectory('a'),
        ];
        for (const call of calls) {
          const started = performance.now();
          await expect(call()).rejects.toMatchObject({ code: 'TIMEOUT', retryable: true });
          expect(performance.now() - started).toBeLessThan(MAX_CALL_MS);
        }
      });

      it('stalls in the middle of a file: the read ends', async () => {
        await listen(
          createServer((_request, response) => {
            response.writeHead(200, { 'content-length': 100, 'content-type': 'text/plain', etag: '"x"' });
            response.write('0123456789');
          }),
        );
        const { stream } = await tested.at(url, { callMs: 5_000, idleMs: 400 }).read('a');
        await expect(text(stream)).rejects.toMatchObject({ code: 'TIMEOUT' });
      });

      it('refuses everything with an HTML page: the status decides', async () => {
        await listen(createServer((_request, response) => void response.writeHead(403).end('<html>no</html>')));
        await expect(tested.at(url, LONG_TIMEOUTS).check()).rejects.toMatchObject({ code: 'ACCESS_DENIED' });
      });

      it('is down: the calls fail as unavailable', async () => {
        await listen(createTcpServer());
        await new Promise((resolve) => server.close(resolve));
        const down = tested.at(url, { callMs: 10_000, idleMs: 10_000 });
        await expect(down.check()).rejects.toMatchObject({ code: 'UNAVAILABLE', retryable: true });
        const write = down.write('a', noise(100), { overwrite: true });
        await expect(write).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      });

      it('gets no data from the source: the write ends', async () => {
        await listen(createServer(() => {}));
        const source = new Readable({ read: () => {} });
        const write = tested.at(url, SHORT_TIMEOUTS).write('a', source, { overwrite: true });
        await expect(write).rejects.toMatchObject({
          code: 'SOURCE_FAILED',
          message: 'The upload sent no data for 0.4 seconds.',
        });
      });
    });
  });
}

/** Sends `size` bytes that do not repeat, in chunks as large as those of connections. */
function noise(size: number, hash?: Hash, onSent?: (sent: number) => void): Readable {
  let sent = 0;
  return new Readable({
    read() {
      if (sent >= size) return void this.push(null);
      const chunk = Buffer.alloc(Math.min(65_536, size - sent), `${sent} `);
      sent += chunk.length;
      hash?.update(chunk);
      onSent?.(sent);
      this.push(chunk);
    },
  });
}

/** Returns two sources that end only when both are being read. */
function twoSourcesThatMeet(): [Readable, Readable] {
  let arrived = 0;
  let meet: () => void;
  const met = new Promise<void>((resolve) => (meet = resolve));
  const source = (content: string) =>
    Readable.from(
      (async function* () {
        if (++arrived === 2) meet();
        await met;
        yield Buffer.from(content);
      })(),
    );
  return [source('first'), source('second')];
}
