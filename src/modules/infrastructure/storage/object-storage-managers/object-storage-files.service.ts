import { Injectable } from '@nestjs/common';
import type { ObjectStore, StoreEntry } from '../../../../../libs/object-storage/object-store';
import { Config } from '../../../../config/config';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { conflict, invalid, notFound } from '../../../../platform/kernel/errors/domain-error';
import { ancestorsOf, invalidPath, nameOf } from '../../../../platform/kernel/files/file-path';
import type { Message } from '../../../../platform/kernel/dto/response-fields';
import type { FileContent } from '../../../../platform/kernel/files/content';
import type { ZipContent, ZipEntry } from '../../../../platform/kernel/files/zip-stream';
import { type Page, pageOf, type PageRequest } from '../../../../platform/kernel/dto/page';
import { type RecordSelector, selectorFrom } from '../../../../platform/kernel/dto/selector';
import { assertUploadSize, type Upload, type UploadBody } from '../../../../platform/http/upload-body';
import { UploadSlots } from '../../../../platform/http/upload-slots';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import type {
  ObjectStorageFileListQuery,
  ObjectStorageFileRead,
  ObjectStorageFileSelector,
  ObjectStorageFileWrite,
  ObjectStorageUploadQuery,
} from './dto/object-storage-file.dto';
import { FileAnswers, keyOf } from './object-storage-file-answers';
import { type FileKey, ObjectStorageFilesRepository } from './object-storage-files.repository';
import { type ObjectStorageManagerRow, ObjectStorageManagersRepository } from './object-storage-managers.repository';
import { destinationOf, pathOf } from './object-storage-paths';
import { ObjectStores } from './object-stores';
import { fromStore } from './store-errors';
import { entriesOf, type EntriesPage, hasInName, pageOfEntries, pageOfFound } from './store-walk';

/** Requests that one upload sends to the store at once. */
const ASKED_AT_ONCE = 8;

/** What a request names: a path, and which of the two kinds if it gives an id. */
interface Place {
  path: string;
  kind?: StoreEntry['kind'];
}

/** A manager of the caller's tenant with its opened store. */
interface Opened {
  manager: ObjectStorageManagerRow;
  store: ObjectStore;
}

/** Files of object storage managers. Only the store knows which exist; the database gives them their ids. */
@Injectable()
export class ObjectStorageFilesService {
  /** This also bounds the memory that uploads hold. */
  private readonly slots: UploadSlots;

  constructor(
    private readonly config: Config,
    private readonly transactions: Transactions,
    private readonly managers: ObjectStorageManagersRepository,
    private readonly files: ObjectStorageFilesRepository,
    private readonly stores: ObjectStores,
    private readonly answers: FileAnswers,
  ) {
    this.slots = new UploadSlots(config.storage.objectStoreMaxUploads, 'OBJECT_STORAGE.TOO_MANY_UPLOADS');
  }

  /** A page of a directory, or of those in it with a part of the name; of a file, the file itself. */
  async list(
    scope: TenantScope,
    query: ObjectStorageFileListQuery,
    partOfName?: string,
  ): Promise<Page<ObjectStorageFileRead>> {
    const opened = await this.open(scope, selectorOf(query));
    const place = await this.place(scope, opened, query);
    const { entries, total } = await ofStore(this.entries(opened, place, query, partOfName));
    return pageOf(await this.answers.read(scope, opened.manager, entries), total, query);
  }

  async get(scope: TenantScope, query: ObjectStorageFileSelector): Promise<ObjectStorageFileRead> {
    const opened = await this.open(scope, selectorOf(query));
    const entry = await this.entry(opened, await this.placeOfOne(scope, opened, query));
    const [answer] = await this.answers.read(scope, opened.manager, [entry]);
    return answer!;
  }

  /**
   * Streams a file into the store, then gives it its row: an upload that is cut off, too long or not of the announced
   * size leaves neither.
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
    const { path, kind } = await this.entry(opened, await this.placeOfOne(scope, opened, query));
    const isDir = kind === 'directory';
    const what = await ofStore(isDir ? deletedDirectory(opened.store, path) : deletedFile(opened.store, path));
    return this.transactions.run(async (tx) => {
      await this.files.close(tx, scope, opened.manager.object_storage_manager_id, { path, isDir });
      return { message: `The ${what} is deleted.` };
    });
  }

  /** Opens a file, or a directory. */
  async download(scope: TenantScope, query: ObjectStorageFileSelector): Promise<FileContent> {
    const opened = await this.open(scope, selectorOf(query));
    const entry = await this.entry(opened, await this.placeOfOne(scope, opened, query));
    if (entry.kind === 'file') return fileContent(opened.store, entry.path);
    const entries = zipEntries(opened.store, entry.path);
    return { kind: 'directory', name: nameOf(entry.path), entries, asError: fromStore };
  }

  /** Opens a file by its path, or by its full path, for a node agent. */
  async openForNode(tenantId: string, managerId: number, path: string): Promise<FileContent> {
    const scope = { tenantId, userId: 0, username: '' };
    const opened = await this.open(scope, { id: managerId });
    const entry = await this.entry(opened, { path: ofOne(pathOf(path)), kind: 'file' });
    return fileContent(opened.store, entry.path);
  }

  private async open(scope: TenantScope, selector: RecordSelector): Promise<Opened> {
    const manager = await this.managers.get(scope, selector);
    return { manager, store: await this.stores.open(manager) };
  }

  /** Where a list begins: the root unless the request says otherwise. */
  private async place(scope: TenantScope, { manager }: Opened, query: ObjectStorageFileSelector): Promise<Place> {
    const { file_id: id, file_path: given } = query;
    const path = given === undefined ? undefined : pathOf(given);
    if (id === undefined) return { path: path ?? '' };
    const key = await this.files.find(scope, manager.object_storage_manager_id, id);
    if (key && (path === undefined || path === key.path)) {
      return { path: key.path, kind: key.isDir ? 'directory' : 'file' };
    }
    throw absent(manager, path === undefined ? `id ${id}` : `id ${id} and path "${path}"`);
  }

  private async placeOfOne(scope: TenantScope, opened: Opened, query: ObjectStorageFileSelector): Promise<Place> {
    if (query.file_id === undefined && query.file_path === undefined) {
      throw invalid('REQUEST.SELECTOR_MISSING', 'One of file_id or file_path is required.');
    }
    const place = await this.place(scope, opened, query);
    return { ...place, path: ofOne(place.path) };
  }

  /** What the store has at the place; 404 when that is nothing. */
  private async entry({ manager, store }: Opened, { path, kind }: Place): Promise<StoreEntry> {
    const entry = await ofStore(store.stat(path, { kind }));
    if (!entry) throw absent(manager, `path "${path}"`);
    return entry;
  }

  private async entries(
    opened: Opened,
    place: Place,
    query: PageRequest & { recursive: boolean },
    partOfName: string | undefined,
  ): Promise<EntriesPage> {
    const { store } = opened;
    if (place.kind !== 'file') {
      const directory = { path: place.path, recursive: query.recursive };
      const page = await (partOfName === undefined
        ? pageOfEntries(store, directory, query)
        : pageOfFound(store, directory, partOfName, query));
      // The usual case needs no further question.
      if (page.total > 0 || place.path === '') return page;
    }
    const entry = await this.entry(opened, place);
    const isShown = entry.kind === 'file' && (partOfName === undefined || hasInName(entry.path, partOfName));
    return { entries: isShown && query.pageNumber === 1 ? [entry] : [], total: isShown ? 1 : 0 };
  }

  private async receive(
    scope: TenantScope,
    opened: Opened,
    { path, sizeBytes, overwrite }: { path: string; sizeBytes: number | null; overwrite: boolean },
    upload: Upload,
  ): Promise<ObjectStorageFileWrite> {
    if (await this.transactions.isRepeated()) {
      await this.bodyOf(upload).compare();
      return this.transactions.repeat();
    }
    await this.assertDirectoriesAbove(opened, path);
    if (await opened.store.stat(path, { kind: 'directory' })) {
      throw conflict('OBJECT_STORAGE.IS_DIRECTORY', `"${path}" is a directory.`);
    }
    const body = this.bodyOf(upload);
    const entry = await opened.store.write(path, body, { overwrite, sizeBytes: sizeBytes ?? undefined });
    body.addToIdempotency();
    return this.record(scope, opened, entry);
  }

  private async makeDirectory(
    scope: TenantScope,
    opened: Opened,
    path: string,
    overwrite: boolean,
    upload: Upload,
  ): Promise<ObjectStorageFileWrite> {
    await upload.assertEmpty();
    if (await this.transactions.isRepeated()) return this.transactions.repeat();
    await this.assertDirectoriesAbove(opened, path);
    const present = await opened.store.stat(path);
    if (present?.kind === 'file') throw conflict('OBJECT_STORAGE.NOT_A_DIRECTORY', `"${path}" is a file.`);
    if (present && !overwrite) throw conflict('OBJECT_STORAGE.ALREADY_EXISTS', `A directory ${path} already exists.`);
    await opened.store.makeDirectory(path);
    const made = { path, kind: 'directory' as const, sizeBytes: 0, lastModified: null, contentType: null };
    return this.record(scope, opened, made);
  }

  /** If this fails, the file is in the store without a row and gets one as soon as it is listed. */
  private record(scope: TenantScope, { manager }: Opened, entry: StoreEntry): Promise<ObjectStorageFileWrite> {
    return this.transactions.run(async (tx) => {
      const key: FileKey = keyOf(entry);
      const ids = await this.files.write(tx, scope, manager.object_storage_manager_id, key);
      return this.answers.written(entry, ids);
    });
  }

  /** A store would let a file have others below it; a file system, and so every zip file of it, would not. */
  private async assertDirectoriesAbove({ store }: Opened, path: string): Promise<void> {
    const directories = ancestorsOf(path);
    for (let at = 0; at < directories.length; at += ASKED_AT_ONCE) {
      const asked = directories.slice(at, at + ASKED_AT_ONCE);
      const found = await Promise.all(asked.map((directory) => store.stat(directory, { kind: 'file' })));
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

function ofOne(path: string): string {
  if (path === '') throw invalidPath('The path names the root, not a file in it.');
  return path;
}

function absent(manager: ObjectStorageManagerRow, what: string) {
  const message = `There is no file with ${what} in the object storage manager "${manager.name}".`;
  return notFound('OBJECT_STORAGE.NOT_FOUND', message);
}

/** The size that the client announces in one way or both (which must agree); null for a chunked body without it. */
function sizeOf({ announcedBytes: announced, bodyBytes: length }: Upload): number | null {
  if (length === null || announced === null || length === announced) return announced ?? length;
  throw invalid('OBJECT_STORAGE.SIZE_MISMATCH', `The upload has ${length} bytes, but ${announced} were announced.`);
}
