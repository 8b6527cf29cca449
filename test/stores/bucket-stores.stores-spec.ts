import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describeBlobStoreContract } from '../../libs/object-storage/blob-store.contract';
import { BucketBlobStore } from '../../libs/object-storage/bucket-blob-store';
import { BucketLogStore } from '../../libs/object-storage/bucket-log-store';
import { describeLogStoreContract } from '../../libs/object-storage/log-store.contract';
import type { LogName, LogStore } from '../../libs/object-storage/log-store';
import { DEFAULT_STORE_TIMEOUTS, type ObjectStore, ObjectStoreError } from '../../libs/object-storage/object-store';
import { openObjectStore } from '../../libs/object-storage/open-object-store';
import { eventually } from '../harness/eventually';
import { FaultProxy } from './harness/fault-proxy';
import { outbound } from './harness/store-servers';
import { S3Bucket } from './harness/test-bucket';

function storeOf(bucket: S3Bucket, endpoint?: string, timeouts = DEFAULT_STORE_TIMEOUTS): ObjectStore {
  const { bucket: name, credentials } = bucket.accessBy({ endpoint });
  return openObjectStore({ provider: 's3-compatible', bucket: name, credentials, outbound, timeouts });
}

/** Returns the store with some methods replaced. */
function altered(store: ObjectStore, methods: Partial<ObjectStore>): ObjectStore {
  return new Proxy(store, {
    get: (target, name) => {
      const method = (methods as Record<string | symbol, unknown>)[name] ?? Reflect.get(target, name);
      return typeof method === 'function' ? (method as () => unknown).bind(target) : method;
    },
  });
}

async function filesIn(store: ObjectStore, folder: string): Promise<string[]> {
  const paths: string[] = [];
  let token: string | null = null;
  do {
    const page = await store.list(folder, { recursive: true, token });
    for (const { path, kind } of page.entries) if (kind === 'file') paths.push(path);
    token = page.nextToken;
  } while (token !== null);
  return paths;
}

describeLogStoreContract(
  'A bucket of S3',
  async () => {
    const bucket = await S3Bucket.make();
    const store = storeOf(bucket);
    let requests = 0;
    const counted = new Proxy(store, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) => {
          requests += 1;
          return (method as (...args: unknown[]) => unknown).apply(target, args);
        };
      },
    });
    return {
      open: () => new BucketLogStore(counted, 'logs'),
      pieces: async () => (await filesIn(store, 'logs')).length,
      requests: () => requests,
      close: async () => bucket.close(),
    };
  },
  // The test over memory appends as many.
  { appends: 2_000 },
);

describeBlobStoreContract('A bucket of S3', async () => {
  const bucket = await S3Bucket.make();
  const store = storeOf(bucket);
  return {
    store: new BucketBlobStore(store, 'files'),
    other: new BucketBlobStore(storeOf(bucket), 'files'),
    // Stores keep dates without milliseconds.
    tickMs: 1100,
    pieces: async () => (await filesIn(store, 'files')).length + (await bucket.unfinishedUploads()).length,
    close: async () => bucket.close(),
  };
});

// Real: an S3 server that checks signatures, and broken connections to it. Stores of this process stand in for crashed processes.
describe('stores in a bucket', () => {
  let bucket: S3Bucket;
  let store: ObjectStore;
  let log: LogName;
  let id = 0;

  beforeAll(async () => {
    bucket = await S3Bucket.make();
    store = storeOf(bucket);
  });
  afterAll(() => bucket.close());
  beforeEach(() => {
    id += 1;
    log = { kind: 'run', id, stream: 'stdout' };
  });

  const content = Array.from({ length: 100 }, (_, index) => `line ${index}\n`).join('');
  const writeAll = async (to: LogStore, from = 0, end = content.length) => {
    for (let at = from; at < end;) at = await to.write(log, at, Buffer.from(content.slice(at, Math.min(at + 5, end))));
  };
  const whole = async (from: LogStore = new BucketLogStore(store, 'logs')) => {
    const { size, read } = await from.open(log);
    return text(read(0, size));
  };
  const of = (text: string) => Readable.from([Buffer.from(text)]);
  const pieces = () => filesIn(store, `logs/run/${String(id).padStart(3, '0')}`);

  it('a chunk whose response was lost is written once', async () => {
    const lossy = altered(store, {
      put: async (...args) => {
        await store.put(...args);
        throw new ObjectStoreError('TIMEOUT', 'The answer was lost.');
      },
    });
    await expect(new BucketLogStore(lossy, 'logs').write(log, 0, Buffer.from('one\n'))).rejects.toMatchObject({
      code: 'TIMEOUT',
    });
    const next = new BucketLogStore(store, 'logs');
    expect(await next.write(log, 0, Buffer.from('one\ntwo\n'))).toBe(8);
    expect(await whole()).toBe('one\ntwo\n');
  });

  it('a merge that crashes after its segment or during its deletes loses nothing and is cleaned up', async () => {
    const failures: unknown[] = [];
    for (const left of [0, 1]) {
      const dying = altered(store, {
        deleteFiles: async (paths) => {
          await store.deleteFiles(paths.slice(0, left * 10));
          throw new ObjectStoreError('UNAVAILABLE', 'The process is gone.');
        },
      });
      await writeAll(new BucketLogStore(dying, 'logs', (error) => failures.push(error)), left * 200, left * 200 + 200);
      expect(await whole()).toBe(content.slice(0, left * 200 + 200));
    }
    expect(failures.length).toBeGreaterThan(1);
    const next = new BucketLogStore(store, 'logs');
    expect(await next.resumeAt(log)).toBe(400);
    await writeAll(next, 400);
    expect(await whole()).toBe(content);
    await next.compact('run', id, AbortSignal.timeout(60_000));
    expect(await pieces()).toHaveLength(1);
    expect(await whole()).toBe(content);
  });

  it('a late merge removes nothing that was merged meanwhile', async () => {
    await writeAll(new BucketLogStore(store, 'logs'), 0, 100);
    let isHeld = false;
    let go = () => {};
    const held = new Promise<void>((resolve) => (go = resolve));
    const slow = altered(store, {
      put: async (...args) => {
        isHeld = true;
        await held;
        await store.put(...args);
      },
    });
    const late = new BucketLogStore(slow, 'logs').compact('run', id, AbortSignal.timeout(60_000));
    while (!isHeld) await new Promise((resolve) => setTimeout(resolve, 10));
    const other = new BucketLogStore(store, 'logs');
    await writeAll(other, 100);
    await other.compact('run', id, AbortSignal.timeout(60_000));
    go();
    await late;
    expect(await whole()).toBe(content);
    expect(await new BucketLogStore(store, 'logs').resumeAt(log)).toBe(content.length);
  });

  it('a reader continues when its segments are merged', async () => {
    const writer = new BucketLogStore(store, 'logs');
    await writeAll(writer, 0, 150);
    const opened = await writer.open(log);
    await writer.compact('run', id, AbortSignal.timeout(60_000));
    expect(await pieces()).toHaveLength(1);
    expect(await text(opened.read(3, 100))).toBe(content.slice(3, 103));
    expect(await opened.offsetOfLastLines(1)).toBe(content.lastIndexOf('\n', 148) + 1);
  });

  describe('that does not respond', () => {
    let proxy: FaultProxy;
    let away: ObjectStore;

    beforeAll(async () => {
      proxy = await FaultProxy.before(bucket.endpoint);
      away = storeOf(bucket, proxy.url, { callMs: 1000, idleMs: 1000 });
    });
    afterAll(() => proxy.stop());
    afterEach(() => proxy.heal());

    const elapsed = async (call: () => Promise<unknown>): Promise<number> => {
      const begun = performance.now();
      await expect(call()).rejects.toThrow();
      return performance.now() - begun;
    };

    it('ends every call at its timeout, and works again afterwards', async () => {
      const [logs, blobs] = [new BucketLogStore(away, 'logs'), new BucketBlobStore(away, 'files')];
      // The data is written with the default timeouts.
      const patient = new BucketBlobStore(store, 'files');
      const [kept, unneeded] = [await patient.write(of('kept'), 100), await patient.write(of('unneeded'), 100)];
      await writeAll(new BucketLogStore(store, 'logs'), 0, 50);
      proxy.hangAfter(0);
      const other = { ...log, id: id + 500 };
      for (const call of [
        () => logs.write(log, 50, Buffer.from('more')),
        () => logs.open(log),
        () => logs.resumeAt(other),
        () => logs.delete('run', id),
        () => blobs.write(of('content'), 100),
        () => blobs.read(kept.key),
        () => blobs.delete(unneeded.key),
        () => blobs.sweep(0, async () => new Set()),
      ]) {
        expect(await elapsed(call)).toBeLessThan(25_000);
      }
      proxy.heal();
      // On a busy machine a call may exceed its timeout of one second.
      await eventually(() => writeAll(logs, 50).then(() => true));
      expect(await eventually(() => whole(logs))).toBe(content);
      expect(await eventually(async () => text(await blobs.read(kept.key)))).toBe('kept');
      expect(await eventually(() => blobs.write(of('content'), 100))).toMatchObject({ size: 7 });
    });

    it('distinguishes a failure of the bucket from a failure of the upload', async () => {
      const blobs = new BucketBlobStore(away, 'files');
      proxy.cutAfter(0);
      const failed = blobs.write(of('content'), 100);
      await expect(failed).rejects.toMatchObject({ problem: 'unavailable' });
    });
  });
});
