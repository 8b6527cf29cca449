import { Injectable } from '@nestjs/common';
import { Config } from '../../../config/config';
import type { WorkspaceContext, WorkspaceScope } from '../../../platform/kernel/auth/principal';
import { conflict, DomainError } from '../../../platform/kernel/errors/domain-error';
import { invalidPath, MAX_PATH_BYTES, nameOf, normalizePath, parentOf } from '../../../platform/kernel/files/file-path';
import type { Tx } from '../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../platform/kernel/persistence/transactions';
import type { WorkspaceFileWrite } from './dto/workspace-file.dto';
import { writeFile } from './workspace-file-responses';
import {
  type FileSelector,
  type FileTotals,
  type WorkspaceFileRow,
  WorkspaceFilesRepository,
} from './workspace-files.repository';
import { FileUses } from './file-uses';
import { notADirectory, WorkspaceFilesService } from './workspace-files.service';
import { WorkspaceQuota } from './workspace-quota';

/** Maximum number of files and directories after a copy. Copies cost no bytes, so the quota does not limit them. */
const MAX_FILES = 1_000_000;

interface Destination {
  path: string;
  overwrite: boolean;
}

/** A destination that may depend on the source. */
interface RelocationTarget {
  pathOf: (source: WorkspaceFileRow) => string;
  overwrite: boolean;
  /** True if a file goes into a directory at that path, as with `cp` and `mv`. */
  intoDirectory: boolean;
}

/** A file or directory that moves to another path. */
interface Relocation {
  source: WorkspaceFileRow;
  size: { entries: number; bytes: number };
  totals: FileTotals;
}

/**
 * Moves and copies files and directories of a workspace. Each request is one transaction, so readers find all of a
 * directory at one path or the other. The bytes stay in place; a copy is a row with the same bytes.
 */
@Injectable()
export class WorkspaceFileMovesService {
  private readonly quota: WorkspaceQuota;

  constructor(
    config: Config,
    private readonly transactions: Transactions,
    private readonly repository: WorkspaceFilesRepository,
    private readonly files: WorkspaceFilesService,
    private readonly uses: FileUses,
  ) {
    this.quota = new WorkspaceQuota(config.storage.workspaceQuotaBytes);
  }

  async rename(scope: WorkspaceScope, selector: FileSelector, name: string): Promise<WorkspaceFileWrite> {
    if (name.includes('/')) throw invalidPath('A file name must not contain a slash. Use the move operation instead.');
    const inSameDirectory = ({ path }: WorkspaceFileRow) => normalizePath(name, parentOf(path));
    return this.moveTo(scope, selector, { pathOf: inSameDirectory, overwrite: false, intoDirectory: false });
  }

  async move(
    scope: WorkspaceScope,
    selector: FileSelector,
    { path, overwrite }: Destination,
  ): Promise<WorkspaceFileWrite> {
    return this.moveTo(scope, selector, {
      pathOf: () => normalizePath(path),
      overwrite,
      intoDirectory: true,
    });
  }

  async copy(
    scope: WorkspaceScope,
    selector: FileSelector,
    { path: destination, overwrite }: Destination,
  ): Promise<WorkspaceFileWrite> {
    const target = { pathOf: () => normalizePath(destination), overwrite, intoDirectory: true };
    return this.relocate(scope, selector, target, (tx, relocation, path) => {
      const { files, directories, bytes } = relocation.totals;
      this.quota.assertWithinQuota(bytes + relocation.size.bytes);
      if (files + directories + relocation.size.entries > MAX_FILES) {
        throw new DomainError(
          'too-large',
          'WORKSPACE.TOO_MANY_FILES',
          `A workspace may have at most ${MAX_FILES} files and directories.`,
        );
      }
      return this.repository.copyTree(tx, scope, relocation.source, path);
    });
  }

  private moveTo(scope: WorkspaceScope, selector: FileSelector, target: RelocationTarget) {
    return this.relocate(scope, selector, target, async (tx, { source }, path) => {
      await this.uses.assertMayMove(tx, source, path);
      await this.repository.moveTree(tx, scope, source, path);
    });
  }

  /** Deletes what the destination replaces, creates its parents, and calls `apply` for the rest. */
  private async relocate(
    scope: WorkspaceScope,
    selector: FileSelector,
    target: RelocationTarget,
    apply: (tx: Tx, relocation: Relocation, path: string) => Promise<void>,
  ): Promise<WorkspaceFileWrite> {
    let unused: string[] = [];
    const answer = await this.transactions.run(async (tx) => {
      unused = [];
      await this.files.lock(tx, scope.workspace);
      const source = await this.repository.select(scope, selector, tx);
      const path = await this.destination(tx, scope.workspace, source, target);
      assertDistinctPaths(source, path);
      const size = await this.sizeOf(tx, source, path);
      const replaced = await this.repository.byPath(tx, scope.workspace.workspaceId, path);
      if (replaced) {
        assertReplaceable(source, replaced, target.overwrite);
        await this.uses.assertUnused(tx, replaced);
        await this.files.sizeOf(tx, replaced);
        unused = (await this.repository.closeTree(tx, scope, replaced)).blobKeys;
      }
      const blockingFile = await this.repository.ensureParents(tx, scope, scope.workspace.workspaceId, path);
      if (blockingFile !== null) throw notADirectory(blockingFile);
      const totals = await this.repository.totals(tx, scope.workspace.workspaceId);
      await apply(tx, { source, size, totals }, path);
      return writeFile(await this.repository.select(scope, { file_path: path }, tx));
    });
    await this.files.discard(unused);
    return answer;
  }

  private async destination(
    tx: Tx,
    workspace: WorkspaceContext,
    source: WorkspaceFileRow,
    { pathOf, intoDirectory }: RelocationTarget,
  ): Promise<string> {
    const path = pathOf(source);
    if (!intoDirectory || source.is_dir) return path;
    const existing = await this.repository.byPath(tx, workspace.workspaceId, path);
    return existing?.is_dir ? normalizePath(nameOf(source.path), path) : path;
  }

  private async sizeOf(tx: Tx, source: WorkspaceFileRow, path: string) {
    const size = await this.files.sizeOf(tx, source);
    const growth = Buffer.byteLength(path) - Buffer.byteLength(source.path);
    if (size.longestPath + growth > MAX_PATH_BYTES) {
      throw invalidPath(
        `A path below "${path}" would be longer than ${MAX_PATH_BYTES} bytes. Use a shorter destination.`,
      );
    }
    return size;
  }
}

function assertDistinctPaths(source: WorkspaceFileRow, path: string): void {
  if (path === source.path) throw conflict('FILE.EXISTS', `"${path}" is already the path of the source.`);
  if (path.startsWith(`${source.path}/`)) throw invalidPath(`"${path}" is inside "${source.path}".`);
  if (source.path.startsWith(`${path}/`)) throw conflict('FILE.EXISTS', `"${path}" contains "${source.path}".`);
}

function assertReplaceable(source: WorkspaceFileRow, replaced: WorkspaceFileRow, overwrite: boolean): void {
  const { path } = replaced;
  if (replaced.is_dir && !source.is_dir) throw conflict('FILE.IS_DIRECTORY', `"${path}" is a directory.`);
  if (!replaced.is_dir && source.is_dir) throw notADirectory(path);
  if (!overwrite) throw conflict('FILE.EXISTS', `"${path}" already exists. Send overwrite=true to replace it.`);
}
