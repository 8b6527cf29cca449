import { Readable } from 'node:stream';
import { type ObjectStore, ObjectStoreError, type StoreEntry } from '../object-storage/object-store';
import { type StoreLocation, StoreTableFiles } from './store-table-files';

const signal = AbortSignal.timeout(60_000);

/** A store with some files of five bytes in directories. */
function storeOf(...paths: string[]): { store: ObjectStore; asked: string[] } {
  const asked: string[] = [];
  const entry = (path: string): StoreEntry => ({
    path,
    kind: 'file',
    sizeBytes: 5,
    lastModified: null,
    contentType: null,
  });
  const store: Partial<ObjectStore> = {
    read: async (path, { range } = {}) => {
      asked.push(path);
      if (!paths.includes(path)) throw new ObjectStoreError('NOT_FOUND', 'There is none.');
      const bytes = Buffer.from('12345').subarray(range?.start, range?.end === undefined ? undefined : range.end + 1);
      return { entry: entry(path), stream: Readable.from([bytes]) };
    },
    stat: async (path) => (paths.includes(path) ? entry(path) : null),
    list: async (directory, { token } = {}) => {
      const all = paths.filter((path) => path.startsWith(`${directory}/`));
      const at = Number(token ?? 0);
      return { entries: all.slice(at, at + 2).map(entry), nextToken: at + 2 < all.length ? String(at + 2) : null };
    },
  };
  return { store: store as ObjectStore, asked };
}

const S3: StoreLocation = { provider: 'aws', bucket: 'lake', account: null };
const GCS: StoreLocation = { provider: 'gcp', bucket: 'lake', account: null };
const AZURE: StoreLocation = { provider: 'azure', bucket: 'lake', account: 'acme1' };

describe('StoreTableFiles', () => {
  it.each<[string, StoreLocation]>([
    ['s3://lake/t/a b%20.json', S3],
    ['S3a://lake//t//a b%20.json', S3],
    ['s3n://lake/t/a b%20.json', { ...S3, provider: 's3-compatible' }],
    ['gs://lake/t/a b%20.json', GCS],
    ['abfss://lake@acme1.dfs.core.windows.net/t/a b%20.json', AZURE],
    ['wasbs://lake@ACME1.blob.core.windows.net/t/a b%20.json', AZURE],
  ])('reads %s', async (uri, location) => {
    const { store, asked } = storeOf('t/a b%20.json');
    const files = new StoreTableFiles(store, location);
    expect(String(await files.read(uri, 5, signal))).toBe('12345');
    expect(String(await files.readPart(uri, { start: 1, end: 3 }, signal))).toBe('23');
    expect(await files.sizeOf(uri, signal)).toBe(5);
    expect(asked).toEqual(['t/a b%20.json', 't/a b%20.json']);
  });

  it.each<[string, StoreLocation]>([
    ['s3://other/t', S3],
    ['s3://lake.evil/t', S3],
    ['gs://lake/t', S3],
    ['s3://lake/t', GCS],
    ['file:///etc/passwd', S3],
    ['hdfs://namenode/t', S3],
    ['/t', S3],
    ['', S3],
    ['abfss://lake@other.dfs.core.windows.net/t', AZURE],
    ['abfss://other@acme1.dfs.core.windows.net/t', AZURE],
    ['abfss://lake@acme1.dfs.core.windows.net.evil.example/t', AZURE],
    ['abfss://lake@acme1.dfs.evil.example/t', AZURE],
  ])('refuses %s, which is elsewhere', async (uri, location) => {
    const { store, asked } = storeOf('t');
    const files = new StoreTableFiles(store, location);
    for (const call of [
      files.read(uri, 5, signal),
      files.readPart(uri, { start: 0, end: 1 }, signal),
      files.sizeOf(uri, signal),
      files.list(uri, { maxFiles: 5 }, signal),
    ])
      await expect(call).rejects.toMatchObject({ fault: 'outside', message: expect.stringContaining('://lake') });
    expect(asked).toEqual([]);
  });

  it('lists at most maxFiles files', async () => {
    const files = new StoreTableFiles(storeOf('t/a', 't/b', 't/c', 'u/d').store, S3);
    const names = (await files.list('s3://lake/t/', { maxFiles: 3 }, signal)).map(({ name }) => name);
    expect(names).toEqual(['a', 'b', 'c']);
    expect(await files.list('s3://lake/none', { maxFiles: 3 }, signal)).toEqual([]);
    await expect(files.list('s3://lake/t', { maxFiles: 2 }, signal)).rejects.toMatchObject({ fault: 'too-large' });
  });

  it('reports absent files and files that are too large', async () => {
    const files = new StoreTableFiles(storeOf('a').store, S3);
    await expect(files.read('s3://lake/b', 5, signal)).rejects.toMatchObject({ fault: 'missing' });
    await expect(files.sizeOf('s3://lake/b', signal)).rejects.toMatchObject({ fault: 'missing' });
    await expect(files.read('s3://lake/a', 4, signal)).rejects.toMatchObject({ fault: 'too-large' });
  });
});
