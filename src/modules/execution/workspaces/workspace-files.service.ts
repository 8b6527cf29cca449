import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { BlobStore, BlobStoreError, type StoredBlob } from '../../../../libs/object-storage/blob-store';
import { ObjectStoreError } from '../../../../libs/object-storage/object-store';
import { Config } from '../../../config/config';
import type { WorkspaceContext, WorkspaceScope } from '../../../platform/kernel/auth/principal';
import { conflict, DomainError, invalid, notFound } from '../../../platform/kernel/errors/domain-error';
import type { Message } from '../../../platform/kernel/dto/response-fields';
import type { FileContent } from '../../../platform/kernel/files/content';
import { downloadAddress } from '../../../platform/kernel/files/download-address';
import type { ZipContent, ZipEntry } from '../../../platform/kernel/files/zip-stream';
import type { Page } from '../../../platform/kernel/dto/page';
import { assertUploadSize, type Upload, type UploadBody } from '../../../platform/http/upload-body';
import { UploadSlots } from '../../../platform/http/upload-slots';
import type { Tx, Values } from '../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../platform/kernel/persistence/transactions';
import type {
  UploadQuery,
  WorkspaceFileListQuery,
  WorkspaceFileRead,
  WorkspaceFileUsage,
  WorkspaceFileWrite,
} from './dto/workspace-file.dto';
import type { WorkspaceFile } from './entities/workspace-file.entity';
import { nameOf, normalizePath, parentOf } from '../../../platform/kernel/files/file-path';
import {
  type FileSelector,
  type FileTotals,
  type TreeEntry,
  type TreeSize,
  type WorkspaceFileRow,
  WorkspaceFilesRepository,
} from './workspace-files.repository';
import type { BlobUse } from './blob-use';
import { readFile, writeFile } from './workspace-file-responses';
import { FileUses } from './file-uses';
import { WorkspaceQuota } from './workspace-quota';
import { WorkspacesService } from './workspaces.service';

/** Minimum age of a blob before it is swept. An upload writes its row long before that. */
const SWEEP_OLDER_THAN_MS = 60 * 60_000;

/** Maximum number of entries that one request moves, copies or deletes, because others of the workspace wait for it. */
const MAX_ENTRIES = 100_000;

const RETRY_AFTER_SECONDS = 5;

/** Where an upload goes, and what it may replace. */
interface UploadTarget {
  path: string;
  overwrite: boolean;
  /** A file that has changed after this time is not replaced. */
  unchangedSince?: Date | undefined;
}

/** Files of workspaces: rows in the database, bytes in the blob store. */
@Injectable()
export class WorkspaceFilesService {
  private readonly slots: UploadSlots;
  private readonly quota: WorkspaceQuota;

  constructor(
    private readonly config: Config,
    private readonly transactions: Transactions,
    private readonly repository: WorkspaceFilesRepository,
    private readonly workspaces: WorkspacesService,
    private readonly blobs: BlobStore,
    private readonly uses: FileUses,
  ) {
    const { workspaceMaxUploads, workspaceQuotaBytes } = config.storage;
    this.slots = new UploadSlots(workspaceMaxUploads, 'WORKSPACE.TOO_MANY_UPLOADS');
    this.quota = new WorkspaceQuota(workspaceQuotaBytes);
  }

  /**
   * Lists files. Returns a 404 if there are none, as the contract requires: clients poll it for new files. A page
   * beyond the last one is empty.
   */
  async list(
    scope: WorkspaceScope,
    query: WorkspaceFileListQuery,
    partOfName?: string,
  ): Promise<Page<WorkspaceFileRead>> {
    const place =
      query.file_id === undefined && isRoot(query.file_path) ? null : await this.repository.select(scope, query);
    const page = await this.repository.list(
      scope,
      query,
      this.repository.entriesOf(scope.workspace, place, query),
      partOfName,
    );
    if (page.result_set.total_objects === 0) {
      const where = place ? `at "${place.path}" of` : 'in';
      throw notFound('FILE.NOT_FOUND', `No file matches the request ${where} the workspace "${scope.workspace.name}".`);
    }
    return this.render(scope.workspace, page);
  }

  async get(scope: WorkspaceScope, selector: FileSelector): Promise<WorkspaceFileRead> {
    return readFile(await this.repository.select(scope, selector), scope.workspace);
  }

  /** Creates a directory, or {@link receive}s a file in one of the tenant's slots. */
  async upload(scope: WorkspaceScope, query: UploadQuery, upload: Upload): Promise<WorkspaceFileWrite> {
    const path = normalizePath(query.path, query.target_dir);
    if (query.is_dir) return this.makeDirectory(scope, path, query.overwrite);
    const target = { path, overwrite: query.overwrite, unchangedSince: query.unchanged_since };
    return this.slots.run(scope.tenantId, () => this.receive(scope, target, upload));
  }

  /**
   * Streams a file into the store and then creates its row. An upload that is cut off, too long, not of the announced
   * size or over the quota leaves neither. If the size is announced, one that is too large is refused before the first
   * byte, otherwise as soon as its size shows.
   */
  private async receive(scope: WorkspaceScope, target: UploadTarget, upload: Upload): Promise<WorkspaceFileWrite> {
    if (await this.transactions.isRepeated()) {
      await this.bodyOf(upload).compare();
      return this.transactions.repeat();
    }
    const { existing, used } = await this.transactions.read(async (tx) => {
      // The row is not locked here. It is checked again when the file is kept.
      const existing = await this.assertWritable(tx, scope.workspace, target, false);
      const { bytes } = await this.repository.totals(tx, scope.workspace.workspaceId);
      return { existing, used: bytes - sizeOf(existing) };
    });
    const { announcedBytes, bodyBytes } = upload;
    const expected = announcedBytes ?? bodyBytes;
    assertUploadSize(expected, this.config.http.maxUploadBytes);
    const claim = this.quota.claim(scope.workspace.workspaceId, used);
    let grownBy = 0;
    try {
      claim.reserve(expected ?? 0);
      await mapStoreErrors(this.blobs.assertSpace(expected ?? 0));
      const body = this.bodyOf(upload, (receivedBytes) => claim.reserve(receivedBytes));
      const blob = await this.store(body, expected);
      body.addToIdempotency();
      const kept = await this.keepUpload(scope, { ...target, existing }, blob);
      grownBy = kept.grownBy;
      return kept.answer;
    } finally {
      claim.end(grownBy);
    }
  }

  /**
   * Creates the row of a blob, or removes the blob. Also removes the replaced blob.
   * @param existing the file before the upload
   */
  private async keepUpload(
    scope: WorkspaceScope,
    { existing, ...target }: UploadTarget & { existing: WorkspaceFileRow | null },
    blob: StoredBlob,
  ): Promise<{ answer: WorkspaceFileWrite; grownBy: number }> {
    let isUsed = false;
    let replaced: WorkspaceFileRow | null = null;
    let unused: string[] = [];
    try {
      const open = () => mapStoreErrors(this.blobs.read(blob.key));
      const applyUpload = await this.uses.read(scope, existing, { sizeBytes: blob.size, open });
      const answer = await this.transactions.run(async (tx) => {
        isUsed = false;
        const { bytes } = await this.lock(tx, scope.workspace);
        replaced = await this.assertWritable(tx, scope.workspace, target);
        this.quota.assertWithinQuota(bytes - sizeOf(replaced) + blob.size);
        const row = await this.put(tx, scope, target.path, { blob, replaced });
        if (applyUpload && replaced?.workspace_file_id === existing?.workspace_file_id) await applyUpload(tx);
        else if (replaced) await this.uses.assertUnused(tx, replaced);
        unused = await this.repository.unusedBlobs(tx, blobKeyOf(replaced));
        isUsed = true;
        return writeFile(row);
      });
      if (isUsed) await this.discard(unused);
      return { answer, grownBy: isUsed ? blob.size - sizeOf(replaced) : 0 };
    } finally {
      if (!isUsed) await this.blobs.delete(blob.key);
    }
  }

  async delete(scope: WorkspaceScope, selector: FileSelector): Promise<Message> {
    let unused: string[] = [];
    const answer = await this.transactions.run(async (tx) => {
      await this.lock(tx, scope.workspace);
      const file = await this.repository.select(scope, selector, tx);
      await this.uses.assertUnused(tx, file);
      await this.sizeOf(tx, file);
      const { count, blobKeys } = await this.repository.closeTree(tx, scope, file);
      unused = blobKeys;
      const what = file.is_dir ? `directory "${file.path}" with ${count - 1} entries` : `file "${file.path}"`;
      return { message: `The ${what} is deleted.` };
    });
    await this.discard(unused);
    return answer;
  }

  /** Returns the size of a tree that one request changes as a whole. Throws a 400 if it is too large. */
  async sizeOf(tx: Tx, file: WorkspaceFileRow): Promise<TreeSize> {
    const size = await this.repository.treeSize(tx, file, MAX_ENTRIES + 1);
    if (size.entries <= MAX_ENTRIES) return size;
    throw invalid(
      'FILE.TOO_MANY_ENTRIES',
      `"${file.path}" has more than ${MAX_ENTRIES} files and directories. Move, copy or delete parts of it.`,
    );
  }

  /** Returns the file or directory at a path; null if there is none. */
  async at(workspace: WorkspaceContext, path: string, tx?: Tx): Promise<WorkspaceFileRow | null> {
    if (tx) return this.repository.byPath(tx, workspace.workspaceId, path);
    return this.transactions.read((read) => this.repository.byPath(read, workspace.workspaceId, path, false));
  }

  /** Writes bytes of the platform itself into the store. The caller must {@link place} or {@link discard} them. */
  async stage(content: Readable): Promise<StoredBlob> {
    return mapStoreErrors(this.blobs.write(content, this.config.http.maxUploadBytes));
  }

  /**
   * Makes staged bytes the content of a new or existing file, in a transaction that began with {@link lock}. Returns
   * the file and the blobs to discard after the commit.
   */
  async place(
    tx: Tx,
    scope: WorkspaceScope,
    path: string,
    blob: StoredBlob,
  ): Promise<{ file: WorkspaceFileRow; unused: string[] }> {
    const replaced = await this.assertWritable(tx, scope.workspace, { path, overwrite: true });
    const { bytes } = await this.repository.totals(tx, scope.workspace.workspaceId);
    this.quota.assertWithinQuota(bytes - sizeOf(replaced) + blob.size);
    const file = await this.put(tx, scope, path, { blob, replaced });
    return { file, unused: await this.repository.unusedBlobs(tx, blobKeyOf(replaced)) };
  }

  /** Opens a file for the platform's own use. */
  async read(file: WorkspaceFileRow): Promise<ZipContent> {
    return this.contentOf(file);
  }

  async download(scope: WorkspaceScope, selector: FileSelector, isRedirected: boolean): Promise<FileContent> {
    const file = await this.repository.select(scope, selector);
    const address = isRedirected && !file.is_dir ? await this.addressOf(file) : null;
    if (address !== null) return { kind: 'address', name: file.name, address, asError: asDomainError };
    if (!file.is_dir) return this.fileContent(file);
    return { kind: 'directory', name: file.name, entries: this.zipEntries(file), asError: asDomainError };
  }

  /** Opens a file of a workspace by its path for a node agent, or a directory as a zip file. */
  async openForNode(tenantId: string, workspaceId: number, path: string, isFolder = false): Promise<FileContent> {
    const workspace = { workspaceId, name: String(workspaceId), description: null, active: true };
    const scope = { tenantId, userId: 0, username: '', workspace };
    const file = await this.repository.select(scope, { file_path: path });
    if (file.is_dir && !isFolder) throw notFound('FILE.NOT_FOUND', `"${path}" is a directory, not a file.`);
    if (!file.is_dir && isFolder) throw notFound('FILE.NOT_FOUND', `"${path}" is a file, not a directory.`);
    if (!isFolder) return this.fileContent(file);
    return { kind: 'directory', name: file.name, entries: this.zipEntries(file), asError: asDomainError };
  }

  async usage(workspace: WorkspaceContext): Promise<WorkspaceFileUsage> {
    const { files, directories, bytes } = await this.transactions.read((tx) =>
      this.repository.totals(tx, workspace.workspaceId),
    );
    return {
      workspace_id: workspace.workspaceId,
      file_count: files,
      directory_count: directories,
      total_size_bytes: bytes,
      limit_size_bytes: this.config.storage.workspaceQuotaBytes,
    };
  }

  /**
   * Removes bytes older than an hour that no current file and no other domain needs. Returns the number of removed
   * blobs.
   */
  async sweep(use: BlobUse): Promise<number> {
    return this.blobs.sweep(SWEEP_OLDER_THAN_MS, async (keys) => {
      const ofFiles = await this.repository.blobKeysInUse(keys);
      return new Set([...ofFiles, ...(await use.keysInUse(keys.filter((key) => !ofFiles.has(key))))]);
    });
  }

  private async fileContent(file: WorkspaceFileRow): Promise<FileContent> {
    return { kind: 'file', name: file.name, asError: asDomainError, ...(await this.contentOf(file)) };
  }

  private addressOf({ blob_key: key, name }: WorkspaceFileRow): Promise<string | null> {
    return mapStoreErrors(this.blobs.addressOf(key ?? '', downloadAddress(name)));
  }

  private async *zipEntries(directory: WorkspaceFileRow): AsyncGenerator<ZipEntry> {
    for await (const page of this.repository.below(directory)) {
      for (const file of page) {
        const name = file.path.slice(directory.path.length + 1);
        yield { name, open: file.is_dir ? null : () => this.contentOf(file) };
      }
    }
  }

  /** Opens the content. An upload may have replaced the bytes since the row was read. */
  private async contentOf(file: TreeEntry): Promise<ZipContent> {
    try {
      return await this.open(file);
    } catch (error) {
      const current = await this.repository.current(file);
      if (current?.blob_key == null || current.blob_key === file.blob_key) throw error;
      return this.open(current);
    }
  }

  private async open(file: TreeEntry): Promise<ZipContent> {
    return { stream: await mapStoreErrors(this.blobs.read(file.blob_key ?? '')), sizeBytes: file.size_bytes ?? 0 };
  }

  private bodyOf(upload: Upload, admit?: (receivedBytes: number) => void): UploadBody {
    const { maxUploadBytes: maxBytes, stallMs } = this.config.http;
    return upload.body({ maxBytes, stallMs, admit });
  }

  private async store(body: Readable, expected: number | null): Promise<StoredBlob> {
    const blob = await mapStoreErrors(this.blobs.write(body, this.config.http.maxUploadBytes, expected));
    if (expected !== null && blob.size !== expected) {
      await this.blobs.delete(blob.key);
      throw invalid('FILE.SIZE_MISMATCH', `x-file-size announced ${expected} bytes, but ${blob.size} arrived.`);
    }
    return blob;
  }

  private async makeDirectory(scope: WorkspaceScope, path: string, overwrite: boolean): Promise<WorkspaceFileWrite> {
    return this.transactions.run(async (tx) => {
      await this.lock(tx, scope.workspace);
      const existing = await this.repository.byPath(tx, scope.workspace.workspaceId, path);
      if (existing && !overwrite) throw conflict('FILE.EXISTS', `"${path}" already exists.`);
      if (existing && !existing.is_dir) throw notADirectory(path);
      // An existing directory keeps its content.
      if (existing) return writeFile(await this.repository.update(tx, scope, existing.workspace_file_id, {}));
      await this.makeParents(tx, scope, path);
      return writeFile(await this.repository.insert(tx, scope, { ...columnsOf(scope.workspace, path), is_dir: true }));
    });
  }

  private async put(
    tx: Tx,
    scope: WorkspaceScope,
    path: string,
    { blob, replaced }: { blob: StoredBlob; replaced: WorkspaceFileRow | null },
  ): Promise<WorkspaceFileRow> {
    const content = { size_bytes: blob.size, sha256: blob.sha256, blob_key: blob.key };
    if (replaced) return this.repository.update(tx, scope, replaced.workspace_file_id, content);
    await this.makeParents(tx, scope, path);
    return this.repository.insert(tx, scope, { ...columnsOf(scope.workspace, path), is_dir: false, ...content });
  }

  private async makeParents(tx: Tx, scope: WorkspaceScope, path: string): Promise<void> {
    const blockingFile = await this.repository.ensureParents(tx, scope, scope.workspace.workspaceId, path);
    if (blockingFile !== null) throw notADirectory(blockingFile);
  }

  /** Checks that an upload may write to the path. Returns the file that it replaces; null if there is none. */
  private async assertWritable(
    tx: Tx,
    workspace: WorkspaceContext,
    { path, overwrite, unchangedSince }: UploadTarget,
    isLocked = true,
  ): Promise<WorkspaceFileRow | null> {
    if (!workspace.active) {
      throw conflict('WORKSPACE.DISABLED', `The workspace "${workspace.name}" is disabled. Enable it first.`);
    }
    const existing = await this.repository.byPath(tx, workspace.workspaceId, path, isLocked);
    if (existing?.is_dir) throw conflict('FILE.IS_DIRECTORY', `"${path}" is a directory.`);
    if (existing && !overwrite)
      throw conflict('FILE.EXISTS', `"${path}" already exists. Send overwrite=true to replace it.`);
    if (unchangedSince && (existing?.last_update_date.getTime() ?? Infinity) > unchangedSince.getTime()) {
      const change = existing ? 'changed' : 'deleted or moved';
      throw conflict(
        'FILE.CHANGED',
        `Somebody has ${change} "${path}" since then. Read it again before you replace it.`,
      );
    }
    return existing;
  }

  /** Locks the files of a workspace. Every change of them begins with this. */
  async lock(tx: Tx, { workspaceId }: WorkspaceContext): Promise<FileTotals> {
    await this.workspaces.lockActive(tx, workspaceId);
    return this.repository.lockTotals(tx, workspaceId);
  }

  /** Removes bytes without a row now. Until the sweeper runs, they would use the disk beyond every quota. */
  async discard(blobKeys: readonly string[]): Promise<void> {
    for (const key of blobKeys) await this.blobs.delete(key).catch(() => undefined);
  }

  private render(workspace: WorkspaceContext, page: Page<WorkspaceFileRow>): Page<WorkspaceFileRead> {
    return { ...page, data: page.data.map((row) => readFile(row, workspace)) };
  }
}

function isRoot(path: string | undefined): boolean {
  return path === undefined || path.replaceAll('/', '') === '';
}

export function notADirectory(path: string): DomainError {
  return conflict('FILE.NOT_A_DIRECTORY', `"${path}" is a file, not a directory.`);
}

function columnsOf(workspace: WorkspaceContext, path: string): Values<WorkspaceFile> {
  return { workspace_id: workspace.workspaceId, path, parent_path: parentOf(path), name: nameOf(path) };
}

function sizeOf(file: WorkspaceFileRow | null): number {
  return file?.size_bytes ?? 0;
}

function blobKeyOf(file: WorkspaceFileRow | null): string[] {
  return file?.blob_key ? [file.blob_key] : [];
}

async function mapStoreErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw asDomainError(error);
  }
}

function asDomainError(error: unknown): unknown {
  // The stream reports errors while it is read.
  if (error instanceof ObjectStoreError) return unavailable(error);
  if (!(error instanceof BlobStoreError)) return error;
  switch (error.problem) {
    case 'too-large':
      return new DomainError('too-large', 'FILE.TOO_LARGE', error.message);
    case 'size-mismatch':
      return invalid('FILE.SIZE_MISMATCH', error.message);
    case 'cut-off':
      return invalid('FILE.CUT_OFF', error.message);
    case 'absent':
      return notFound('FILE.NOT_FOUND', error.message);
    case 'no-space':
      return new DomainError(
        'unavailable',
        'FILE.STORE_FULL',
        'The file store is full. Ask the operator to free space.',
        {},
        { cause: error },
      );
    case 'unavailable':
      return unavailable(error);
  }
}

function unavailable(cause: Error): DomainError {
  return new DomainError(
    'unavailable',
    'FILE.STORE_UNAVAILABLE',
    'The file store is unavailable. Send the request again in a few seconds.',
    { retry_after_seconds: RETRY_AFTER_SECONDS },
    { cause },
  );
}
