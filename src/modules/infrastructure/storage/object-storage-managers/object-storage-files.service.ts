import { Injectable } from '@nestjs/common';
import type { ObjectStore, StoreEntry } from '../../../../../libs/object-storage/object-store';
import { Config } from '../../../../config/config';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { conflict, invalid, notFound } from '../../../../platform/kernel/errors/domain-error';
import { ancestorsOf, invalidPath, nameOf } from '../../../../platform/kernel/files/file-path';
import type { Message } from '../../../../platform/kernel/dto/response-fields';
import type { FileContent } from '../../../../platform/kernel/files/content';
import { downloadAddress } from '../../../../platform/kernel/files/download-address';
import type { ZipContent, ZipEntry } from '../../../../platform/kernel/files/zip-stream';
import { type Page, pageOf, type PageRequest } from '../../../../platform/kernel/dto/page';
import { type RecordSelector, selectorFrom } from '../../../../platform/kernel/dto/selector';
import { assertUploadSize, type Upload, type UploadBody } from '../../../../platform/http/upload-body';
import { UploadSlots } from '../../../../platform/http/upload-slots';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import type {
  ObjectStorageDownloadQuery,
  ObjectStorageFileListQuery,
  ObjectStorageFileRead,
  ObjectStorageFileSelector,
  ObjectStorageFileWrite,
  ObjectStorageUploadQuery,
} from './dto/object-storage-file.dto';
import { FileResponses, keyOf } from './object-storage-file-responses';
import { type FileKey, ObjectStorageFilesRepository } from './object-storage-files.repository';
import { type ObjectStorageManagerRow, ObjectStorageManagersRepository } from './object-storage-managers.repository';
import { destinationOf, pathOf } from './object-storage-paths';
import { ObjectStores } from './object-stores';
import { fromStore } from './store-errors';
import { entriesOf, type EntriesPage, hasInName, pageOfEntries, searchPage } from './store-walk';

/** Concurrent store requests per upload. */
const MAX_CONCURRENT_STATS = 8;

/** The path that a request refers to, and its kind if the request has an id. */
interface Target {
  path: string;
  kind?: StoreEntry['kind'];
}

interface OpenManager {
  manager: ObjectStorageManagerRow;
  store: ObjectStore;
}

/**
 * Lists, reads and writes files of object storage managers. The store knows which exist; the database has their ids.
 */
@Injectable()
export class ObjectStorageFilesService {
  /** Limits concurrent uploads, and with them their memory. */
  private readonly slots: UploadSlots;

  constructor(
    private readonly config: Config,
    private readonly transactions: Transactions,
    private readonly managers: ObjectStorageManagersRepository,
    private readonly files: ObjectStorageFilesRepository,
    private readonly stores: ObjectStores,
    private readonly responses: FileResponses,
  ) {
    this.slots = new UploadSlots(config.storage.objectStoreMaxUploads, 'OBJECT_STORAGE.TOO_MANY_UPLOADS');
  }

  /** Lists a directory, optionally filtered by part of the name. For a file, the list has only the file itself. */
  async list(
    scope: TenantScope,
    query: ObjectStorageFileListQuery,
    partOfName?: string,
  ): Promise<Page<ObjectStorageFileRead>> {
    const opened = await this.open(scope, selectorOf(query));
    const target = await this.target(scope, opened, query);
    const { entries, total } = await ofStore(this.entries(opened, target, query, partOfName));
    return pageOf(await this.responses.read(scope, opened.manager, entries), total, query);
  }

  async get(scope: TenantScope, query: ObjectStorageFileSelector): Promise<ObjectStorageFileRead> {
    const opened = await this.open(scope, selectorOf(query));
    const entry = await this.entry(opened, await this.targetOfOne(scope, opened, query));
    const [response] = await this.responses.read(scope, opened.manager, [entry]);
    return response!;
  }

  /**
   * Streams a file into the store and then creates its row. An upload that is interrupted, too large or of another size
   * than announced leaves neither.
   */
  async upload(scope: TenantScope, query: ObjectStorageUploadQuery, upload: Upload): Promise<ObjectStorageFileWrite> {
    try {
      const path = destinationOf(query.path, query.target_dir, query.is_dir);
      const opened = await this.open(scope, selectorOf(query));
      if (query.is_dir) return await this.makeDirectory(scope, opened, path, query.overwrite, upload);
      const sizeBytes = sizeOf(upload);
      assertUploadSize(sizeBytes, this.config.http.maxUploadBytes);
      return await this.slots.run(scope.tenantId, () =>
        this.receive(scope, opened, { path, sizeBytes, overwrite: query.overwrite }, upload),
      );
    } catch (error) {
      throw fromStore(error);
    }
  }

  async delete(scope: TenantScope, query: ObjectStorageFileSelector): Promise<Message> {
    const opened = await this.open(scope, selectorOf(query));
    const { path, kind } = await this.entry(opened, await this.targetOfOne(scope, opened, query));
    const isDir = kind === 'directory';
    const what = await ofStore(isDir ? deletedDirectory(opened.store, path) : deletedFile(opened.store, path));
    return this.transactions.run(async (tx) => {
      await this.files.close(tx, scope, opened.manager.object_storage_manager_id, { path, isDir });
      return { message: `The ${what} is deleted.` };
    });
  }

  /** Opens a file, or a directory as a zip file. */
  async download(scope: TenantScope, query: ObjectStorageDownloadQuery): Promise<FileContent> {
    const opened = await this.open(scope, selectorOf(query));
    const entry = await this.entry(opened, await this.targetOfOne(scope, opened, query));
    const address = query.redirect && entry.kind === 'file' ? await addressOf(opened.store, entry.path) : null;
    if (address !== null) return { kind: 'address', name: nameOf(entry.path), address, asError: fromStore };
    if (entry.kind === 'file') return fileContent(opened.store, entry.path);
    const entries = zipEntries(opened.store, entry.path);
    return { kind: 'directory', name: nameOf(entry.path), entries, asError: fromStore };
  }

  /** Opens a file for a node agent, by path or full path. */
  async openForNode(tenantId: string, managerId: number, path: string): Promise<FileContent> {
    const scope = { tenantId, userId: 0, username: '' };
    const opened = await this.open(scope, { id: managerId });
    const entry = await this.entry(opened, { path: assertNotRoot(pathOf(path)), kind: 'file' });
    return fileContent(opened.store, entry.path);
  }

  private async open(scope: TenantScope, selector: RecordSelector): Promise<OpenManager> {
    const manager = await this.managers.get(scope, selector);
    return { manager, store: await this.stores.open(manager) };
  }

  /** Returns the path or id of the request; the root if it has neither. */
  private async target(
    scope: TenantScope,
    { manager }: OpenManager,
    query: ObjectStorageFileSelector,
  ): Promise<Target> {
    const { file_id: id, file_path: requested } = query;
    const path = requested === undefined ? undefined : pathOf(requested);
    if (id === undefined) return { path: path ?? '' };
    const key = await this.files.find(scope, manager.object_storage_manager_id, id);
    if (key && (path === undefined || path === key.path)) {
      return { path: key.path, kind: key.isDir ? 'directory' : 'file' };
    }
    throw absent(manager, path === undefined ? `id ${id}` : `id ${id} and path "${path}"`);
  }

  private async targetOfOne(
    scope: TenantScope,
    opened: OpenManager,
    query: ObjectStorageFileSelector,
  ): Promise<Target> {
    if (query.file_id === undefined && query.file_path === undefined) {
      throw invalid('REQUEST.SELECTOR_MISSING', 'One of file_id or file_path is required.');
    }
    const target = await this.target(scope, opened, query);
    return { ...target, path: assertNotRoot(target.path) };
  }

  /** Throws 404 if the store has nothing there. */
  private async entry({ manager, store }: OpenManager, { path, kind }: Target): Promise<StoreEntry> {
    const entry = await ofStore(store.stat(path, { kind }));
    if (!entry) throw absent(manager, `path "${path}"`);
    return entry;
  }

  private async entries(
    opened: OpenManager,
    target: Target,
    query: PageRequest & { recursive: boolean },
    partOfName: string | undefined,
  ): Promise<EntriesPage> {
    const { store } = opened;
    if (target.kind !== 'file') {
      const directory = { path: target.path, recursive: query.recursive };
      const page = await (partOfName === undefined
        ? pageOfEntries(store, directory, query)
        : searchPage(store, directory, partOfName, query));
      // In the usual case no further store request is needed.
      if (page.total > 0 || target.path === '') return page;
    }
    const entry = await this.entry(opened, target);
    const isListed = entry.kind === 'file' && (partOfName === undefined || hasInName(entry.path, partOfName));
    return { entries: isListed && query.pageNumber === 1 ? [entry] : [], total: isListed ? 1 : 0 };
  }

  private async receive(
    scope: TenantScope,
    opened: OpenManager,
    { path, sizeBytes, overwrite }: { path: string; sizeBytes: number | null; overwrite: boolean },
    upload: Upload,
  ): Promise<ObjectStorageFileWrite> {
    if (await this.transactions.isRepeated()) {
      await this.bodyOf(upload).compare();
      return this.transactions.repeat();
    }
    await this.assertDirectoriesAbove(opened, path);
    if (await opened.store.stat(path, { kind: 'directory' })) {
      throw conflict(
        'OBJECT_STORAGE.IS_DIRECTORY',
        `"${path}" is a directory. Choose another path or delete it first.`,
      );
    }
    const body = this.bodyOf(upload);
    const entry = await opened.store.write(path, body, { overwrite, sizeBytes: sizeBytes ?? undefined });
    body.addToIdempotency();
    return this.record(scope, opened, entry);
  }

  private async makeDirectory(
    scope: TenantScope,
    opened: OpenManager,
    path: string,
    overwrite: boolean,
    upload: Upload,
  ): Promise<ObjectStorageFileWrite> {
    await upload.assertEmpty();
    if (await this.transactions.isRepeated()) return this.transactions.repeat();
    await this.assertDirectoriesAbove(opened, path);
    const existing = await opened.store.stat(path);
    if (existing?.kind === 'file') throw conflict('OBJECT_STORAGE.NOT_A_DIRECTORY', `"${path}" is a file.`);
    if (existing && !overwrite) throw conflict('OBJECT_STORAGE.ALREADY_EXISTS', `A directory ${path} already exists.`);
    await opened.store.makeDirectory(path);
    const entry = { path, kind: 'directory' as const, sizeBytes: 0, lastModified: null, contentType: null };
    return this.record(scope, opened, entry);
  }

  /** If this fails, the file stays in the store and gets its row when it is next listed. */
  private record(scope: TenantScope, { manager }: OpenManager, entry: StoreEntry): Promise<ObjectStorageFileWrite> {
    return this.transactions.run(async (tx) => {
      const key: FileKey = keyOf(entry);
      const ids = await this.files.write(tx, scope, manager.object_storage_manager_id, key);
      return this.responses.written(entry, ids);
    });
  }

  /** Stores allow files below a file path, but file systems, and so zip files, do not. */
  private async assertDirectoriesAbove({ store }: OpenManager, path: string): Promise<void> {
    const directories = ancestorsOf(path);
    for (let start = 0; start < directories.length; start += MAX_CONCURRENT_STATS) {
      const batch = directories.slice(start, start + MAX_CONCURRENT_STATS);
      const found = await Promise.all(batch.map((directory) => store.stat(directory, { kind: 'file' })));
      const file = found.find((entry) => entry !== null);
      if (file) throw conflict('OBJECT_STORAGE.NOT_A_DIRECTORY', `"${file.path}" is a file, not a directory.`);
    }
  }

  private bodyOf(upload: Upload): UploadBody {
    return upload.body({ maxBytes: this.config.http.maxUploadBytes, stallMs: this.config.http.stallMs });
  }
}

async function fileContent(store: ObjectStore, path: string): Promise<FileContent> {
  return { kind: 'file', name: nameOf(path), asError: fromStore, ...(await ofStore(contentOf(store, path))) };
}

function addressOf(store: ObjectStore, path: string): Promise<string | null> {
  return ofStore(store.addressOf(path, downloadAddress(nameOf(path))));
}

async function* zipEntries(store: ObjectStore, directory: string): AsyncGenerator<ZipEntry> {
  for await (const entries of entriesOf(store, { path: directory, recursive: true })) {
    for (const { path, kind, lastModified } of entries) {
      const open = kind === 'directory' ? null : () => contentOf(store, path);
      yield { name: path.slice(directory.length + 1), lastModified, open };
    }
  }
}

async function contentOf(store: ObjectStore, path: string): Promise<ZipContent> {
  const { entry, stream } = await store.read(path);
  return { stream, sizeBytes: entry.sizeBytes };
}

async function deletedFile(store: ObjectStore, path: string): Promise<string> {
  await store.deleteFile(path);
  return `file "${path}"`;
}

async function deletedDirectory(store: ObjectStore, path: string): Promise<string> {
  const count = await store.deleteDirectory(path);
  return `directory "${path}" with ${count} ${count === 1 ? 'file' : 'files'}`;
}

async function ofStore<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw fromStore(error);
  }
}

function selectorOf(query: object): RecordSelector {
  return selectorFrom(query, 'object_storage_manager');
}

function assertNotRoot(path: string): string {
  if (path === '') throw invalidPath('The path is the root. Name a file or directory in it.');
  return path;
}

function absent(manager: ObjectStorageManagerRow, what: string) {
  const message = `There is no file with ${what} in the object storage manager "${manager.name}".`;
  return notFound('OBJECT_STORAGE.NOT_FOUND', message);
}

/** Returns the announced size, from one or both headers, which must agree; null for a chunked body without it. */
function sizeOf({ announcedBytes: announced, bodyBytes: length }: Upload): number | null {
  if (length === null || announced === null || length === announced) return announced ?? length;
  throw invalid('OBJECT_STORAGE.SIZE_MISMATCH', `The upload has ${length} bytes, but ${announced} were announced.`);
}
