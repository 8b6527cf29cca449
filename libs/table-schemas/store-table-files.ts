import { type ObjectStore, ObjectStoreError, type StoreContent } from '../object-storage/object-store';
import type { StoreProvider } from '../object-storage/open-object-store';
import { parseStoreUri, STORE_SCHEMES } from '../object-storage/store-uri';
import type { TableFile, TableFiles } from './table-files';
import { excerpt, TableSchemaError } from './table-schema-error';

/** Identifies the open bucket or container. */
export interface StoreLocation {
  provider: StoreProvider;
  bucket: string;
  /** Azure's storage account, else null. */
  account: string | null;
}

/** Reads the files of tables in one bucket or container, by the URIs of Hadoop's connectors. */
export class StoreTableFiles implements TableFiles {
  constructor(
    private readonly store: ObjectStore,
    private readonly location: StoreLocation,
  ) {}

  async read(uri: string, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
    const content = await this.open(uri, undefined, signal);
    return collect(content, Math.min(maxBytes, content.entry.sizeBytes), uri);
  }

  async readPart(uri: string, { start, end }: { start: number; end: number }, signal: AbortSignal): Promise<Buffer> {
    if (end <= start) return Buffer.alloc(0);
    return collect(await this.open(uri, { start, end: end - 1 }, signal), end - start, uri);
  }

  async sizeOf(uri: string, signal: AbortSignal): Promise<number> {
    const entry = await this.store.stat(this.pathOf(uri), { kind: 'file', signal });
    if (!entry) throw missing(uri);
    return entry.sizeBytes;
  }

  async list(uri: string, { maxFiles }: { maxFiles: number }, signal: AbortSignal): Promise<TableFile[]> {
    const directory = this.pathOf(uri);
    const files: TableFile[] = [];
    let count = 0;
    for (let token: string | null = null; ;) {
      const page = await this.store.list(directory, { token, signal });
      count += page.entries.length;
      if (count > maxFiles) {
        throw new TableSchemaError('too-large', `The directory ${excerpt(uri)} has more than ${maxFiles} files.`);
      }
      for (const { kind, path, sizeBytes } of page.entries) {
        if (kind === 'file') files.push({ name: path.slice(path.lastIndexOf('/') + 1), sizeBytes });
      }
      token = page.nextToken;
      if (token === null) return files;
    }
  }

  private async open(uri: string, range: { start: number; end: number } | undefined, signal: AbortSignal) {
    try {
      return await this.store.read(this.pathOf(uri), { range, signal });
    } catch (error) {
      if (error instanceof ObjectStoreError && error.code === 'NOT_FOUND') throw missing(uri, error);
      throw error;
    }
  }

  private pathOf(uri: string): string {
    const { provider, bucket, account } = this.location;
    const target = parseStoreUri(uri, provider);
    if (target?.bucket === bucket && target.account === account) return target.path;
    const opened = `${STORE_SCHEMES[provider][0]}://${this.authority()}`;
    throw new TableSchemaError(
      'outside',
      `The files are at ${excerpt(uri)}, but the table's credentials are for ${opened}.`,
    );
  }

  private authority(): string {
    const { provider, bucket, account } = this.location;
    return provider === 'azure' ? `${bucket}@${account ?? ''}.dfs.core.windows.net` : bucket;
  }
}

function missing(uri: string, cause?: unknown): TableSchemaError {
  return new TableSchemaError('missing', `The file ${excerpt(uri)} does not exist.`, { cause });
}

/** Counts the bytes, because the store may send more than it announced. */
async function collect({ stream }: StoreContent, maxBytes: number, uri: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw new TableSchemaError('too-large', `The file ${excerpt(uri)} is too large to be read.`);
      chunks.push(chunk);
    }
  } finally {
    stream.destroy();
  }
  return Buffer.concat(chunks, size);
}
