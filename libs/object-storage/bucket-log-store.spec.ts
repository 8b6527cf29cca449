import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { BucketLogStore } from './bucket-log-store';
import type { KeyInfo, KeyListRequest, KeyPage, KeySpace, KeyUpload, KeyUploadRequest } from './key-space';
import { KeyedObjectStore } from './keyed-object-store';
import { describeLogStoreContract } from './log-store.contract';
import type { LogName } from './log-store';
import { DEFAULT_STORE_TIMEOUTS, type ObjectStore, ObjectStoreError } from './object-store';
import type { Part } from './part-upload';

/** A bucket in memory; test/stores runs the same contract on real ones. */
class MemoryKeySpace implements KeySpace {
  readonly maxParts = 1000;
  readonly parallelParts = 1;
  requests = 0;
  readonly objects = new Map<string, { content: Buffer; lastModified: Date }>();

  async list({ prefix, token, limit }: KeyListRequest): Promise<KeyPage> {
    this.requests += 1;
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > (token ?? '')).sort();
    const page = keys.slice(0, limit);
    return {
      objects: page.map((key) => this.info(key)!),
      prefixes: [],
      nextToken: keys.length > limit ? page.at(-1)! : null,
    };
  }

  async address(): Promise<null> {
    return null;
  }

  async head(key: string): Promise<KeyInfo | null> {
    return this.info(key);
  }

  async open(key: string, range: { start: number; end?: number } | null) {
    this.requests += 1;
    const info = this.info(key);
    if (!info) throw new ObjectStoreError('NOT_FOUND', `There is no ${key}.`);
    const end = range?.end === undefined ? undefined : range.end + 1;
    const part = this.objects.get(key)!.content.subarray(range?.start ?? 0, end);
    return { info, lengthBytes: part.length, stream: Readable.from(part.length > 0 ? [part] : []) };
  }

  upload({ key, overwrite }: KeyUploadRequest): KeyUpload {
    const parts: Buffer[] = [];
    return {
      send: async ({ data, isLast }: Part) => {
        this.requests += 1;
        parts.push(Buffer.from(data));
        if (!isLast) return;
        if (!overwrite && this.objects.has(key)) throw new ObjectStoreError('ALREADY_EXISTS', `There is ${key}.`);
        this.objects.set(key, { content: Buffer.concat(parts), lastModified: new Date() });
      },
      finish: async () => undefined,
      discard: async () => undefined,
    };
  }

  async delete(keys: string[]): Promise<void> {
    this.requests += 1;
    for (const key of keys) this.objects.delete(key);
  }

  fault(error: unknown): ObjectStoreError {
    return new ObjectStoreError('REFUSED', String(error), { cause: error });
  }

  private info(key: string): KeyInfo | null {
    const object = this.objects.get(key);
    if (!object) return null;
    return { key, sizeBytes: object.content.length, lastModified: object.lastModified, contentType: null };
  }
}

describeLogStoreContract(
  'A bucket in memory',
  async () => {
    const keys = new MemoryKeySpace();
    const store = new KeyedObjectStore(keys, DEFAULT_STORE_TIMEOUTS);
    return {
      open: () => new BucketLogStore(store, 'logs'),
      pieces: async () => keys.objects.size,
      requests: () => keys.requests,
      close: async () => undefined,
    };
  },
  { appends: 10_000 },
);

describe('BucketLogStore', () => {
  const log: LogName = { kind: 'run', id: 7, stream: 'stdout' };
  const folder = 'logs/run/007/7/stdout';
  const whole = async (store: ObjectStore) => {
    const { size, read } = await new BucketLogStore(store, 'logs').open(log);
    return text(read(0, size));
  };
  const bucketOf = async (segments: Record<string, string>) => {
    const keys = new MemoryKeySpace();
    const store = new KeyedObjectStore(keys, DEFAULT_STORE_TIMEOUTS);
    for (const [name, content] of Object.entries(segments)) {
      const [start = '', end = '', level] = name.split('-');
      const path = `${folder}/${start.padStart(13, '0')}-${end.padStart(13, '0')}-${level}`;
      await store.put(path, Buffer.from(content), { overwrite: false });
    }
    return { keys, store };
  };

  it.each([
    ['one merged segment is left', { '0-2-0': 'ab', '0-8-1': 'abcdefgh', '8-9-0': 'i' }, 'abcdefghi', 'abcdefghijkl'],
    [
      'the last merged segment is left',
      { '0-8-1': 'abcdefgh', '6-8-0': 'gh', '8-9-0': 'i' },
      'abcdefghi',
      'abcdefghijkl',
    ],
    [
      'a late writer cut elsewhere',
      { '0-4-0': 'abcd', '2-6-0': 'cdef', '4-5-0': 'e', '5-9-0': 'fghi' },
      'abcdefghi',
      'abcdefghijkl',
    ],
    ['a segment is missing', { '0-2-0': 'ab', '3-6-0': 'def' }, 'ab', 'abcdef'],
    ['the beginning is missing', { '3-6-0': 'def' }, '', 'abcdef'],
  ])('reads the log and compacts it if %s', async (_case, segments, content, compacted) => {
    const { keys, store } = await bucketOf(segments);
    expect(await whole(store)).toBe(content);
    const writer = new BucketLogStore(store, 'logs');
    const next = 'abcdefghijklm'.slice(content.length, content.length + 3);
    expect(await writer.write(log, content.length, Buffer.from(next))).toBe(content.length + 3);
    await writer.compact('run', 7, AbortSignal.timeout(60_000));
    expect(await whole(store)).toBe(compacted);
    expect(keys.objects.size).toBe(1);
  });

  it('lists the log again after a pause, and writes only bytes that no other process has appended', async () => {
    const { keys, store } = await bucketOf({});
    const [writer, other] = [new BucketLogStore(store, 'logs'), new BucketLogStore(store, 'logs')];
    await writer.write(log, 0, Buffer.from('ab'));
    await other.write(log, 2, Buffer.from('cd'));
    const now = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(now + 60_000);
    expect(await writer.write(log, 2, Buffer.from('cdef'))).toBe(6);
    expect([...keys.objects.values()].map(({ content }) => String(content))).toEqual(['ab', 'cd', 'ef']);
  });
});
