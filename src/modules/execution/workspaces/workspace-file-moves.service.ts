import { Injectable } from '@nestjs/common';
import { Config } from '../../../config/config';
import type { WorkspaceContext, WorkspaceScope } from '../../../platform/kernel/auth/principal';
import { conflict, DomainError } from '../../../platform/kernel/errors/domain-error';
import { invalidPath, MAX_PATH_BYTES, nameOf, normalizePath, parentOf } from '../../../platform/kernel/files/file-path';
import type { Tx } from '../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../platform/kernel/persistence/transactions';
import type { WorkspaceFileWrite } from './dto/workspace-file.dto';
import { writeFile } from './workspace-file-answers';
import {
  type FileSelector,
  type FileTotals,
  type WorkspaceFileRow,
  WorkspaceFilesRepository,
} from './workspace-files.repository';
import { FileUses } from './file-uses';
import { notADirectory, WorkspaceFilesService } from './workspace-files.service';
import { WorkspaceRoom } from './workspace-room';

/** Files and directories that copies may bring a workspace to: they cost no bytes, so the quota does not bound them. */
const MAX_FILES = 1_000_000;

interface Destination {
  path: string;
  overwrite: boolean;
}

/** A destination that may depend on what goes there. */
interface Target {
  pathOf: (source: WorkspaceFileRow) => string;
  overwrite: boolean;
  /** Whether a directory at that path is where a file goes into, as `cp` and `mv` take it. */
  intoDirectory: boolean;
}

/** A file or directory on its way to another path. */
interface Journey {
  source: WorkspaceFileRow;
  size: { entries: number; bytes: number };
  totals: FileTotals;
}

/**
 * Gives files and directories of a workspace other paths. Each request is one transaction: readers find all of a
 * directory at the one path or at the other. Bytes stay where they are; a copy is a row with the same bytes.
 */
@Injectable()
export class WorkspaceFileMovesService {
  private readonly room: WorkspaceRoom;

  constructor(
    config: Config,
    private readonly transactions: Transactions,
    private readonly repository: WorkspaceFilesRepository,
    private readonly files: WorkspaceFilesService,
    private readonly uses: FileUses,
  ) {
    this.room = new WorkspaceRoom(config.storage.workspaceQuotaBytes);
  }

  async rename(scope: WorkspaceScope, selector: FileSelector, name: string): Promise<WorkspaceFileWrite> {
    if (name.includes('/')) throw invalidPath('A file name must not contain a slash. Use the move operation instead.');
    const beside = ({ path }: WorkspaceFileRow) => normalizePath(name, parentOf(path));
    return this.moveTo(scope, selector, { pathOf: beside, overwrite: false, intoDirectory: false });
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
    { path: given, overwrite }: Destination,
  ): Promise<WorkspaceFileWrite> {
    const target = { pathOf: () => normalizePath(given), overwrite, intoDirectory: true };
    return this.relocate(scope, selector, target, (tx, journey, path) => {
      const { files, directories, bytes } = journey.totals;
      this.room.assertRoomFor(bytes + journey.size.bytes);
      if (files + directories + journey.size.entries > MAX_FILES) {
        throw new DomainError(
          'too-large',
          'WORKSPACE.TOO_MANY_FILES',
          `A workspace may have at most ${MAX_FILES} files and directories.`,
        );
      }
      return this.repository.copyTree(tx, scope, journey.source, path);
    });
  }

  private moveTo(scope: WorkspaceScope, selector: FileSelector, target: Target) {
    return this.relocate(scope, selector, target, async (tx, { source }, path) => {
      await this.uses.assertMayMove(tx, source, path);
      await this.repository.moveTree(tx, scope, source, path);
    });
  }

  /** Ends what the destination replaces, makes its parents, and has `act` do the rest. */
  private async relocate(
    scope: WorkspaceScope,
    selector: FileSelector,
    target: Target,
    act: (tx: Tx, journey: Journey, path: string) => Promise<void>,
  ): Promise<WorkspaceFileWrite> {
    let unused: string[] = [];
    const answer = await this.transactions.run(async (tx) => {
      unused = [];
      await this.files.lock(tx, scope.workspace);
      const source = await this.repository.select(scope, selector, tx);
      const path = await this.destination(tx, scope.workspace, source, target);
      assertApart(source, path);
      const size = await this.sizeOf(tx, source, path);
      const replaced = await this.repository.byPath(tx, scope.workspace.workspaceId, path);
      if (replaced) {
        assertReplaceable(source, replaced, target.overwrite);
        await this.uses.assertUnused(tx, replaced);
        await this.files.sizeOf(tx, replaced);
        unused = (await this.repository.closeTree(tx, scope, replaced)).blobKeys;
      }
      const inTheWay = await this.repository.ensureParents(tx, scope, scope.workspace.workspaceId, path);
      if (inTheWay !== null) throw notADirectory(inTheWay);
      const totals = await this.repository.totals(tx, scope.workspace.workspaceId);
      await act(tx, { source, size, totals }, path);
      return writeFile(await this.repository.select(scope, { file_path: path }, tx));
    });
    await this.files.discard(unused);
    return answer;
  }

  private async destination(
    tx: Tx,
    workspace: WorkspaceContext,
    source: WorkspaceFileRow,
    { pathOf, intoDirectory }: Target,
  ): Promise<string> {
    const path = pathOf(source);
    if (!intoDirectory || source.is_dir) return path;
    const there = await this.repository.byPath(tx, workspace.workspaceId, path);
    return there?.is_dir ? normalizePath(nameOf(source.path), path) : path;
  }

  private async sizeOf(tx: Tx, source: WorkspaceFileRow, path: string) {
    const size = await this.files.sizeOf(tx, source);
    const growth = Buffer.byteLength(path) - Buffer.byteLength(source.path);
    if (size.longestPath + growth > MAX_PATH_BYTES) {
      throw invalidPath(`A path below "${path}" would have more than ${MAX_PATH_BYTES} bytes.`);
    }
    return size;
  }
}

function assertApart(source: WorkspaceFileRow, path: string): void {
  if (path === source.path) throw conflict('FILE.EXISTS', `"${path}" is already there.`);
  if (path.startsWith(`${source.path}/`)) throw invalidPath(`"${path}" is inside "${source.path}".`);
  if (source.path.startsWith(`${path}/`)) throw conflict('FILE.EXISTS', `"${path}" contains "${source.path}".`);
}

function assertReplaceable(source: WorkspaceFileRow, replaced: WorkspaceFileRow, overwrite: boolean): void {
  const { path } = replaced;
  if (replaced.is_dir && !source.is_dir) throw conflict('FILE.IS_DIRECTORY', `"${path}" is a directory.`);
  if (!replaced.is_dir && source.is_dir) throw notADirectory(path);
  if (!overwrite) throw conflict('FILE.EXISTS', `"${path}" already exists. Send overwrite=true to replace it.`);
}
