import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { TenantScope, WorkspaceContext, WorkspaceScope } from '../../../platform/kernel/auth/principal';
import { invalid, notFound } from '../../../platform/kernel/errors/domain-error';
import type { AuthorNames } from '../../../platform/kernel/dto/response-fields';
import { firstRow, literalPattern, rows, type Tx } from '../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../platform/kernel/persistence/tenant-condition';
import { type ResourceFilter, ResourceRepository } from '../../../platform/http/resources/resource-repository';
import type { WorkspaceFileListQuery } from './dto/workspace-file.dto';
import { WorkspaceFile } from './entities/workspace-file.entity';
import { ancestorsOf, nameOf, normalizePath, parentOf } from '../../../platform/kernel/files/file-path';

export type WorkspaceFileRow = WorkspaceFile & AuthorNames;

/** Number of the current files and directories of a workspace, and their total bytes. */
export interface FileTotals {
  files: number;
  directories: number;
  bytes: number;
}

/** Size of a file, or of a directory with everything below it. */
export interface TreeSize {
  entries: number;
  bytes: number;
  longestPath: number;
}

/** Maximum number of blobs that are removed with a deleted directory. The sweeper removes the rest. */
const MAX_BLOBS = 1000;

const TREE_COLUMNS = ['tenant_id', 'workspace_file_id', 'path', 'is_dir', 'size_bytes', 'blob_key'] as const;

/** The columns that are read of each entry of a tree, which may have a million. */
export type TreeEntry = Pick<WorkspaceFile, (typeof TREE_COLUMNS)[number]>;

const PAGE_OF_TREE = 1_000;

/** Condition on a file or directory and everything below it. {@link treeParams} provides `$1` to `$3`. */
const OF_TREE = `workspace_id = $1 AND to_date = 'infinity' AND (path = $2 OR path LIKE $3)`;

function treeParams({ workspace_id, path }: WorkspaceFileRow): [number, string, string] {
  return [workspace_id, path, `${literalPattern(path)}/%`];
}

/** SQL for the new values of a tree at `$2` that moves to `$4`, in the directory `$5`, under the name `$6`. */
const MOVED_PATH = '$4::text || substr(path, length($2::text) + 1)';
const MOVED_PARENT = 'CASE WHEN path = $2 THEN $5 ELSE $4 || substr(parent_path, length($2) + 1) END';
const MOVED_NAME = 'CASE WHEN path = $2 THEN $6 ELSE name END';

export interface FileSelector {
  file_id?: number;
  file_path?: string;
}

@Injectable()
export class WorkspaceFilesRepository extends ResourceRepository<WorkspaceFile> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: WorkspaceFile,
      internal: ['parent_path', 'blob_key'],
    });
  }

  /**
   * Filters for the entries of a directory, or everything below it with `recursive`, or a single file. The default is
   * the root.
   */
  entriesOf(
    { workspaceId }: WorkspaceContext,
    place: WorkspaceFileRow | null,
    query: Pick<WorkspaceFileListQuery, 'recursive' | 'is_dir' | 'is_git'>,
  ): ResourceFilter<WorkspaceFile> {
    return (conditions) => {
      if (place?.is_dir === false) {
        conditions.only('workspace_file_id', place.workspace_file_id);
        return;
      }
      conditions.only('workspace_id', workspaceId);
      if (!query.recursive) conditions.only('parent_path', place?.path ?? '');
      else if (place) conditions.add('t.path LIKE ?', `${literalPattern(place.path)}/%`);
      conditions.only('is_dir', query.is_dir).addIf(query.is_git === true, 'FALSE');
    };
  }

  /** Returns the file of the workspace that the selector names; 404 if there is none. */
  async select(scope: WorkspaceScope, selector: FileSelector, tx?: Tx): Promise<WorkspaceFileRow> {
    const { file_id: id, file_path: path } = selector;
    if (id === undefined && path === undefined) {
      throw invalid('REQUEST.SELECTOR_MISSING', 'One of file_id or file_path is required.');
    }
    const found = await firstRow<Pick<WorkspaceFile, 'workspace_file_id'>>(
      tx ?? this.dataSource.manager,
      `SELECT workspace_file_id FROM workspace_files t WHERE ${ofTenant('t', '$1')} AND workspace_id = $2 AND to_date = 'infinity'
         AND ($3::bigint IS NULL OR workspace_file_id = $3) AND ($4::text IS NULL OR path = $4)`,
      [scope.tenantId, scope.workspace.workspaceId, id ?? null, path === undefined ? null : normalizePath(path)],
    );
    if (!found) {
      const named = path === undefined ? `id ${id}` : `path "${path}"`;
      throw notFound('FILE.NOT_FOUND', `There is no file with ${named} in the workspace "${scope.workspace.name}".`);
    }
    return this.get(scope, { id: found.workspace_file_id }, tx);
  }

  /** Returns the present row; null if the file is gone. */
  async current({ tenant_id, workspace_file_id }: TreeEntry): Promise<WorkspaceFileRow | null> {
    return firstRow<WorkspaceFileRow>(
      this.dataSource.manager,
      `SELECT * FROM workspace_files t WHERE ${ofTenant('t', '$1')} AND workspace_file_id = $2 AND to_date = 'infinity'`,
      [tenant_id, workspace_file_id],
    );
  }

  /**
   * Returns the file at a path.
   * @param isLocked true locks the row until `tx` ends
   */
  async byPath(tx: Tx, workspaceId: number, path: string, isLocked = true): Promise<WorkspaceFileRow | null> {
    return firstRow<WorkspaceFileRow>(
      tx,
      `SELECT * FROM workspace_files WHERE workspace_id = $1 AND path = $2 AND to_date = 'infinity' ${isLocked ? 'FOR UPDATE' : ''}`,
      [workspaceId, path],
    );
  }

  /**
   * Creates the directories above a path. If a file is in the way, returns its path; the caller reports the conflict.
   */
  async ensureParents(tx: Tx, scope: TenantScope, workspaceId: number, path: string): Promise<string | null> {
    for (const directory of ancestorsOf(path)) {
      await tx.query(
        `INSERT INTO workspace_files (tenant_id, workspace_id, path, parent_path, name, is_dir, created_by_user_id, modified_by_user_id)
         VALUES ($1, $2, $3, $4, $5, true, $6, $6) ON CONFLICT (workspace_id, path) WHERE to_date = 'infinity' DO NOTHING`,
        [scope.tenantId, workspaceId, directory, parentOf(directory), nameOf(directory), scope.userId],
      );
      const row = await this.byPath(tx, workspaceId, directory);
      if (row && !row.is_dir) return directory;
    }
    return null;
  }

  /** Returns the number of entries of a tree, itself included, and their bytes. Counts up to `limit`. */
  async treeSize(tx: Tx, file: WorkspaceFileRow, limit: number): Promise<TreeSize> {
    const size = await firstRow<{ entries: number; bytes: number; longest_path: number }>(
      tx,
      `SELECT count(*) AS entries, coalesce(sum(size_bytes), 0)::bigint AS bytes, max(octet_length(path)) AS longest_path
       FROM (SELECT size_bytes, path FROM workspace_files WHERE ${OF_TREE} LIMIT $4) tree`,
      [...treeParams(file), limit],
    );
    return { entries: size?.entries ?? 0, bytes: size?.bytes ?? 0, longestPath: size?.longest_path ?? 0 };
  }

  /** Moves a file or directory with everything below it to another path, at which nothing may exist. */
  async moveTree(tx: Tx, scope: TenantScope, file: WorkspaceFileRow, path: string): Promise<void> {
    await tx.query(
      `UPDATE workspace_files SET path = ${MOVED_PATH}, parent_path = ${MOVED_PARENT}, name = ${MOVED_NAME},
         modified_by_user_id = $7, last_update_date = platform_now() WHERE ${OF_TREE}`,
      [...treeParams(file), path, parentOf(path), nameOf(path), scope.userId],
    );
  }

  /**
   * Copies the rows of a file or directory and everything below it to another path, at which nothing may exist. Copies
   * share the bytes.
   */
  async copyTree(tx: Tx, scope: TenantScope, file: WorkspaceFileRow, path: string): Promise<void> {
    await tx.query(
      `INSERT INTO workspace_files (tenant_id, workspace_id, path, parent_path, name, is_dir, size_bytes, sha256, blob_key,
         created_by_user_id, modified_by_user_id)
       SELECT tenant_id, workspace_id, ${MOVED_PATH}, ${MOVED_PARENT}, ${MOVED_NAME}, is_dir, size_bytes, sha256, blob_key,
         $7, $7
       FROM workspace_files WHERE ${OF_TREE} ORDER BY path`,
      [...treeParams(file), path, parentOf(path), nameOf(path), scope.userId],
    );
  }

  /**
   * Returns the keys that no current file references. Copies share a blob. The caller holds the workspace's file lock.
   */
  async unusedBlobs(tx: Tx, keys: readonly string[]): Promise<string[]> {
    if (keys.length === 0) return [];
    const unused = await rows<{ key: string }>(
      tx,
      `SELECT DISTINCT key FROM unnest($1::text[]) AS given (key)
       WHERE NOT EXISTS (SELECT 1 FROM workspace_files WHERE blob_key = key AND to_date = 'infinity')`,
      [keys],
    );
    return unused.map(({ key }) => key);
  }

  /**
   * Deletes a file or directory with everything below it. Returns the number of entries, and the largest blobs that no
   * other file references.
   */
  async closeTree(tx: Tx, scope: TenantScope, file: WorkspaceFileRow): Promise<{ count: number; blobKeys: string[] }> {
    const closed = await firstRow<{ count: number; blob_keys: string[] }>(
      tx,
      `WITH closed AS (
         UPDATE workspace_files SET to_date = platform_now(), modified_by_user_id = $4, last_update_date = platform_now()
         WHERE ${OF_TREE} RETURNING blob_key, size_bytes)
       SELECT count(*) AS count, ARRAY(SELECT blob_key FROM closed WHERE blob_key IS NOT NULL
           ORDER BY size_bytes DESC LIMIT ${MAX_BLOBS}) AS blob_keys FROM closed`,
      [...treeParams(file), scope.userId],
    );
    return { count: closed?.count ?? 0, blobKeys: await this.unusedBlobs(tx, closed?.blob_keys ?? []) };
  }

  /**
   * Yields the entries below a directory in the order of their paths. Each page is current when it is read, and no path
   * is repeated.
   */
  async *below({ workspace_id, path }: WorkspaceFileRow): AsyncGenerator<TreeEntry[]> {
    let after = '';
    for (;;) {
      const page = await rows<TreeEntry>(
        this.dataSource.manager,
        `SELECT ${TREE_COLUMNS.join(', ')} FROM workspace_files
         WHERE workspace_id = $1 AND to_date = 'infinity' AND path > $2 AND path LIKE $3 ORDER BY path LIMIT ${PAGE_OF_TREE}`,
        [workspace_id, after, `${literalPattern(path)}/%`],
      );
      yield page;
      const last = page.at(-1);
      if (!last || page.length < PAGE_OF_TREE) return;
      after = last.path;
    }
  }

  /** Returns those of the blobs that a current file of any workspace references. */
  async blobKeysInUse(keys: readonly string[]): Promise<Set<string>> {
    const used = await rows<{ blob_key: NonNullable<WorkspaceFile['blob_key']> }>(
      this.dataSource.manager,
      `SELECT blob_key FROM workspace_files WHERE blob_key = ANY($1) AND to_date = 'infinity'`,
      [keys],
    );
    return new Set(used.map((row) => row.blob_key));
  }

  /** Returns the totals. The cost does not depend on the number of files. */
  async totals(tx: Tx, workspaceId: number): Promise<FileTotals> {
    const sql = 'SELECT files, directories, bytes FROM workspace_file_totals WHERE workspace_id = $1';
    return (await firstRow<FileTotals>(tx, sql, [workspaceId])) ?? { files: 0, directories: 0, bytes: 0 };
  }

  /**
   * Locks the files of the workspace until `tx` ends, so that its free quota does not change. All changes write the
   * totals, so they wait for each other here instead of deadlocking later.
   */
  async lockTotals(tx: Tx, workspaceId: number): Promise<FileTotals> {
    await tx.query('INSERT INTO workspace_file_totals (workspace_id) VALUES ($1) ON CONFLICT DO NOTHING', [
      workspaceId,
    ]);
    await tx.query('SELECT 1 FROM workspace_file_totals WHERE workspace_id = $1 FOR UPDATE', [workspaceId]);
    return this.totals(tx, workspaceId);
  }
}
