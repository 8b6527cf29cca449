import { Readable } from 'node:stream';
import type { KeyInfo, KeyPage, KeySpace, KeyUploadRequest } from './key-space';
import {
  type AddressOptions,
  type CallOptions,
  type ListOptions,
  type ObjectStore,
  ObjectStoreError,
  type PutOptions,
  type ReadOptions,
  type StatOptions,
  type StoreContent,
  type StoreEntry,
  type StorePage,
  type StoreTimeouts,
  type WriteOptions,
} from './object-store';
import { type Part, sendParts } from './part-upload';
import { guardedStream, withDeadline } from './store-deadline';
import {
  assertPath,
  compareKeys,
  decodePosition,
  directoriesAbove,
  encodePosition,
  isPath,
  type ListPosition,
} from './store-paths';

const MAX_PAGE = 1000;

/** The limit of S3 and Google for one object. */
const MAX_FILE_BYTES = 5 * 2 ** 40;

/** The slowest rate at which a part may be sent, bytes a second. */
const MIN_RATE = 128 * 1024;

/** S3 may need minutes to assemble the parts of a large file. */
const FINISH_FACTOR = 5;

type Listed = StoreEntry & { key: string };

/** Presents the keys of a provider as files and directories. */
export class KeyedObjectStore implements ObjectStore {
  constructor(
    private readonly keys: KeySpace,
    private readonly timeouts: StoreTimeouts,
  ) {}

  async list(directory: string, options: ListOptions = {}): Promise<StorePage> {
    const prefix = directoryKey(directory);
    const limit = options.limit ?? MAX_PAGE;
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
      throw new ObjectStoreError('INVALID_REQUEST', `The page size must be 1 to ${MAX_PAGE}.`);
    }
    for (let position = decodePosition(options.token); ;) {
      const page = await this.page({ prefix, delimited: !options.recursive, limit, position }, options.signal);
      const nextToken = page.next && encodePosition(page.next);
      // All keys of a provider's page may be left out, so an empty page is not the end of the list.
      if (page.entries.length > 0 || !page.next) return { entries: page.entries, nextToken };
      position = page.next;
    }
  }

  async stat(path: string, { kind, signal }: StatOptions = {}): Promise<StoreEntry | null> {
    const prefix = directoryKey(path);
    const info = path === '' ? null : await this.call(signal, (callSignal) => this.keys.head(path, callSignal));
    const entry = info && entryOf(info);
    if (entry && (kind === undefined || kind === entry.kind)) return entry;
    if (kind === 'file') return null;
    const request = { prefix, delimited: false, token: null, limit: 1 };
    const { objects } = await this.call(signal, (callSignal) => this.keys.list(request, callSignal));
    return objects.length > 0 || path === '' ? directoryEntry(prefix) : null;
  }

  async read(path: string, { range, signal }: ReadOptions = {}): Promise<StoreContent> {
    assertPath(path);
    if (range) assertRange(range);
    const opening = this.call(signal, (callSignal) => this.keys.open(path, range ?? null, callSignal));
    const { info, lengthBytes, stream } = await opening.catch((error: ObjectStoreError) => this.absence(error, signal));
    const problem = this.unreadable(info, range);
    if (problem) {
      stream.on('error', () => {}).destroy();
      throw problem;
    }
    const fault = (error: unknown) => this.fault(error);
    return {
      entry: entryOf(info),
      stream: guardedStream(stream, { idleMs: this.timeouts.idleMs, lengthBytes, signal, fault }),
    };
  }

  async addressOf(path: string, options: AddressOptions): Promise<string | null> {
    assertPath(path);
    try {
      return await this.call(options.signal, (callSignal) => this.keys.address(path, options, callSignal));
    } catch (error) {
      // Some credentials may read but not sign.
      if (error instanceof ObjectStoreError && error.code === 'ACCESS_DENIED') return null;
      throw error;
    }
  }

  async write(path: string, source: Readable, options: WriteOptions): Promise<StoreEntry> {
    const { sizeBytes = null, overwrite, contentType = 'application/octet-stream', signal } = options;
    // The source may fail before anything reads it; without a listener, that error would end the process.
    source.on('error', () => {});
    try {
      assertPath(path);
      assertSize(sizeBytes);
      // The store itself decides at the end; this check avoids sending a whole file that it would refuse.
      if (!overwrite && (await this.call(signal, (callSignal) => this.keys.head(path, callSignal))))
        throw alreadyExists(path);
      const request = { key: path, contentType, overwrite, sizeBytes, isDirectory: false };
      const stored = await this.upload(request, source, signal);
      return { path, kind: 'file', sizeBytes: stored, lastModified: await this.lastModified(path), contentType };
    } catch (error) {
      source.destroy();
      if (error instanceof ObjectStoreError && error.code === 'ALREADY_EXISTS') throw alreadyExists(path);
      throw error;
    }
  }

  async put(path: string, content: Buffer, options: PutOptions): Promise<void> {
    const { overwrite, contentType = 'application/octet-stream', signal } = options;
    assertPath(path);
    const upload = this.keys.upload({
      key: path,
      contentType,
      overwrite,
      sizeBytes: content.length,
      isDirectory: false,
    });
    const part: Part = { number: 1, offset: 0, data: content, isLast: true };
    try {
      await this.send((callSignal) => upload.send(part, callSignal), part, signal);
      await this.call(signal, (callSignal) => upload.finish(callSignal));
    } catch (error) {
      await withDeadline(this.timeouts.callMs, undefined, (callSignal) => upload.discard(callSignal)).catch(() => {});
      if (error instanceof ObjectStoreError && error.code === 'ALREADY_EXISTS') throw alreadyExists(path);
      throw error;
    }
  }

  async makeDirectory(path: string, { signal }: CallOptions = {}): Promise<void> {
    assertPath(path);
    const present = await this.stat(path, { signal });
    if (present?.kind === 'file') throw alreadyExists(path);
    if (present) return;
    const request = {
      key: `${path}/`,
      contentType: 'application/x-directory',
      overwrite: true,
      sizeBytes: 0,
      isDirectory: true,
    };
    await this.upload(request, Readable.from([]), signal);
  }

  async deleteFile(path: string, { signal }: CallOptions = {}): Promise<void> {
    assertPath(path);
    await this.call(signal, (callSignal) => this.keys.delete([path], callSignal));
  }

  async deleteFiles(paths: readonly string[], { signal }: CallOptions = {}): Promise<void> {
    paths.forEach(assertPath);
    await this.deleteKeys([...paths], signal);
  }

  async deleteDirectory(path: string, { signal }: CallOptions = {}): Promise<number> {
    assertPath(path);
    const directories: string[] = [];
    let files = 0;
    for (let token: string | null = null; ;) {
      const request = { prefix: directoryKey(path), delimited: false, token, limit: MAX_PAGE };
      const page: KeyPage = await this.call(signal, (callSignal) => this.keys.list(request, callSignal));
      const found = page.objects.filter((info) => !isDirectory(info)).map(({ key }) => key);
      directories.push(...page.objects.filter(isDirectory).map(({ key }) => key));
      await this.deleteKeys(found, signal);
      files += found.length;
      token = page.nextToken;
      if (token === null) break;
    }
    // Innermost first, and after the files: Azure deletes only empty directories.
    for (const depth of byDepth(directories)) await this.deleteKeys(depth, signal);
    return files;
  }

  async check({ signal }: CallOptions = {}): Promise<void> {
    const request = { prefix: '', delimited: false, token: null, limit: 1 };
    await this.call(signal, (callSignal) => this.keys.list(request, callSignal));
  }

  /** A failed read may not distinguish a missing bucket from a missing file; a list does. */
  private async absence(error: ObjectStoreError, signal: AbortSignal | undefined): Promise<never> {
    if (error.code !== 'NOT_FOUND') throw error;
    const found = await this.check({ signal }).catch((cause: ObjectStoreError) => cause);
    throw found instanceof ObjectStoreError && found.code === 'BUCKET_NOT_FOUND' ? found : error;
  }

  private unreadable(info: KeyInfo, range: ReadOptions['range']): ObjectStoreError | null {
    if (info.isDirectory) return new ObjectStoreError('NOT_FOUND', `${info.key} is a directory, not a file.`);
    if (!range || range.start < info.sizeBytes) return null;
    return new ObjectStoreError('INVALID_RANGE', `The range begins past the end of ${info.key}.`);
  }

  private async page(
    query: { prefix: string; delimited: boolean; limit: number; position: ListPosition },
    signal: AbortSignal | undefined,
  ): Promise<{ entries: StoreEntry[]; next: ListPosition | null }> {
    const { prefix, delimited, limit, position } = query;
    const request = { prefix, delimited, token: position.token, limit };
    const page = await this.call(signal, (callSignal) => this.keys.list(request, callSignal));
    const found = delimited ? inDirectory(page, prefix) : belowDirectory(page, prefix, position.last);
    const listed = position.isRest ? found.filter(({ key }) => isAfter(key, position.last)) : found;
    const entries = listed.slice(0, limit);
    const last = entries.at(-1)?.key ?? position.last;
    // Implied directories may make a page longer than the limit: the rest of it becomes the next page.
    const isCut = listed.length > limit;
    const token = isCut ? position.token : page.nextToken;
    const next = isCut || token !== null ? { token, last, isRest: isCut } : null;
    return { entries: entries.map(withoutKey), next };
  }

  private async upload(request: KeyUploadRequest, source: Readable, signal: AbortSignal | undefined): Promise<number> {
    const upload = this.keys.upload(request);
    const { sizeBytes } = request;
    const { maxParts, parallelParts } = this.keys;
    const { idleMs, callMs } = this.timeouts;
    try {
      const send = (part: Part, callSignal: AbortSignal) =>
        this.send((given) => upload.send(part, given), part, callSignal);
      const stored = await sendParts(source, { sizeBytes, maxParts, parallelParts, idleMs, signal }, send);
      await this.call(signal, (callSignal) => upload.finish(callSignal), callMs * FINISH_FACTOR);
      return stored;
    } catch (error) {
      // Not with the caller's signal, which may have ended the upload. A failure here must not hide the error that led to it.
      await withDeadline(callMs, undefined, (callSignal) => upload.discard(callSignal)).catch(() => {});
      throw error;
    }
  }

  private send(
    send: (signal: AbortSignal) => Promise<void>,
    part: Part,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    return this.call(signal, send, this.timeouts.callMs + (part.data.length / MIN_RATE) * 1000);
  }

  private async deleteKeys(keys: string[], signal: AbortSignal | undefined): Promise<void> {
    if (keys.length > 0)
      await this.call(signal, (callSignal) => this.keys.delete(keys, callSignal), this.timeouts.callMs * FINISH_FACTOR);
  }

  /** Returns null if the date cannot be read: the file is stored all the same. */
  private async lastModified(path: string): Promise<Date | null> {
    const info = await this.call(undefined, (callSignal) => this.keys.head(path, callSignal)).catch(() => null);
    return info?.lastModified ?? null;
  }

  private async call<T>(
    signal: AbortSignal | undefined,
    call: (signal: AbortSignal) => Promise<T>,
    timeoutMs = this.timeouts.callMs,
  ): Promise<T> {
    try {
      return await withDeadline(timeoutMs, signal, call);
    } catch (error) {
      throw this.fault(error);
    }
  }

  private fault(error: unknown): ObjectStoreError {
    return error instanceof ObjectStoreError ? error : this.keys.fault(error);
  }
}

/** Returns the prefix of all keys of a directory; empty for the root. */
function directoryKey(path: string): string {
  if (path === '') return '';
  assertPath(path);
  return `${path}/`;
}

function inDirectory(page: KeyPage, prefix: string): Listed[] {
  const found = new Map(page.prefixes.map((key) => [key, listed(directoryEntry(key), key)]));
  for (const info of page.objects) {
    const key = listKey(info);
    if (key !== prefix && !found.has(key)) found.set(key, listed(entryOf(info), key));
  }
  return sorted(found);
}

/** Adds the directories that keys imply, except those above the last entry of the previous page, which listed them. */
function belowDirectory(page: KeyPage, prefix: string, last: string | null): Listed[] {
  const found = new Map<string, Listed>();
  for (const info of page.objects) {
    const key = listKey(info);
    for (const above of directoriesAbove(key, prefix)) {
      if (!found.has(above) && !last?.startsWith(above)) found.set(above, listed(directoryEntry(above), above));
    }
    if (key !== prefix && !(isDirectory(info) && last?.startsWith(key))) found.set(key, listed(entryOf(info), key));
  }
  return sorted(found);
}

function sorted(found: Map<string, Listed>): Listed[] {
  return [...found.values()].filter(({ path }) => isPath(path)).sort((a, b) => compareKeys(a.key, b.key));
}

function isAfter(key: string, last: string | null): boolean {
  return last === null || compareKeys(key, last) > 0;
}

function listed(entry: StoreEntry, key: string): Listed {
  return { ...entry, key };
}

function withoutKey({ key: _key, ...entry }: Listed): StoreEntry {
  return entry;
}

function isDirectory(info: KeyInfo): boolean {
  return info.isDirectory === true || info.key.endsWith('/');
}

function listKey(info: KeyInfo): string {
  return info.isDirectory && !info.key.endsWith('/') ? `${info.key}/` : info.key;
}

function entryOf(info: KeyInfo): StoreEntry {
  if (isDirectory(info)) return { ...directoryEntry(listKey(info)), lastModified: info.lastModified };
  const { key, sizeBytes, lastModified, contentType } = info;
  return { path: key, kind: 'file', sizeBytes, lastModified, contentType };
}

function directoryEntry(key: string): StoreEntry {
  return { path: key.slice(0, -1), kind: 'directory', sizeBytes: 0, lastModified: null, contentType: null };
}

/** Returns batches of keys, the deepest directories first. */
function byDepth(directories: string[]): string[][] {
  const depths = new Map<number, string[]>();
  for (const key of directories) {
    const depth = key.replace(/\/$/, '').split('/').length;
    depths.set(depth, [...(depths.get(depth) ?? []), key]);
  }
  return [...depths.entries()]
    .sort(([a], [b]) => b - a)
    .flatMap(([, keys]) =>
      Array.from({ length: Math.ceil(keys.length / MAX_PAGE) }, (_, i) => keys.slice(i * MAX_PAGE, (i + 1) * MAX_PAGE)),
    );
}

function assertRange({ start, end }: { start: number; end?: number }): void {
  const valid =
    Number.isSafeInteger(start) && start >= 0 && (end === undefined || (Number.isSafeInteger(end) && end >= start));
  if (!valid)
    throw new ObjectStoreError('INVALID_RANGE', 'A range must start at 0 or later and end at its start or later.');
}

function assertSize(sizeBytes: number | null): void {
  if (sizeBytes === null) return;
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) {
    throw new ObjectStoreError('INVALID_REQUEST', 'The size of a file must be a whole number of bytes.');
  }
  if (sizeBytes > MAX_FILE_BYTES) throw new ObjectStoreError('TOO_LARGE', 'A file may not be larger than 5 TiB.');
}

function alreadyExists(path: string): ObjectStoreError {
  return new ObjectStoreError('ALREADY_EXISTS', `The file ${path} already exists.`);
}
