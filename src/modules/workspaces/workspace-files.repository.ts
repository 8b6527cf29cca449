import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { TenantScope, WorkspaceContext } from '../../platform/auth/principal';
import { invalid, notFound } from '../../platform/errors/domain-error';
import type { AuditRow } from '../../platform/http/answers';
import { firstRow, literalPattern, returning, rows, type Tx } from '../../platform/persistence/sql';
import { ResourceRepository } from '../../platform/resources/resource-repository';
import { ancestorsOf, nameOf, normalizePath, parentOf } from '../../platform/files/file-path';

export interface WorkspaceFileRow extends AuditRow {
  workspace_file_id: number;
  tenant_id: string;
  workspace_id: number;
  path: string;
  parent_path: string;
  name: string;
  is_dir: boolean;
  size_bytes: number | null;
  sha256: string | null;
  blob_key: string | null;
}

/** One file by its id or path. */
export interface FileSelector {
  file_id?: number;
  file_path?: string;
}

@Injectable()
export class WorkspaceFilesRepository extends ResourceRepository<WorkspaceFileRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      table: 'workspace_files',
      idColumn: 'workspace_file_id',
      columns: 't.*',
      code: 'FILE',
      label: 'file',
    });
  }

  /** The file of the workspace that the selector names; 404 when there is none. */
  async select(
    scope: TenantScope,
    workspace: WorkspaceContext,
    selector: FileSelector,
    tx?: Tx,
  ): Promise<WorkspaceFileRow> {
    const { file_id: id, file_path: path } = selector;
    if (id === undefined && path === undefined) {
      throw invalid('REQUEST.SELECTOR_MISSING', 'One of file_id or file_path is required.');
    }
    const found = await firstRow<{ workspace_file_id: number }>(
      tx ?? this.dataSource.manager,
      `SELECT workspace_file_id FROM workspace_files WHERE tenant_id = $1 AND workspace_id = $2 AND to_date = 'infinity'
         AND ($3::bigint IS NULL OR workspace_file_id = $3) AND ($4::text IS NULL OR path = $4)`,
      [scope.tenantId, workspace.workspaceId, id ?? null, path === undefined ? null : normalizePath(path)],
    );
    if (!found) {
      const named = path === undefined ? `id ${id}` : `path "${path}"`;
      throw notFound('FILE.NOT_FOUND', `There is no file with ${named} in the workspace "${workspace.name}".`);
    }
    return this.get(scope, { id: found.workspace_file_id }, tx);
  }

  async byPath(tx: Tx, workspaceId: number, path: string): Promise<WorkspaceFileRow | null> {
    return firstRow<WorkspaceFileRow>(
      tx,
      `SELECT * FROM workspace_files WHERE workspace_id = $1 AND path = $2 AND to_date = 'infinity' FOR UPDATE`,
      [workspaceId, path],
    );
  }

  /** Makes the directories above a path; a file in the way is the caller's conflict. Answers that file's path. */
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

  /** A file or directory and everything below it. */
  async closeTree(tx: Tx, scope: TenantScope, file: WorkspaceFileRow): Promise<number> {
    const closed = await returning(
      tx,
      `UPDATE workspace_files SET to_date = now(), modified_by_user_id = $4, last_update_date = now()
       WHERE workspace_id = $1 AND to_date = 'infinity' AND (path = $2 OR path LIKE $3) RETURNING 1`,
      [file.workspace_id, file.path, `${literalPattern(file.path)}/%`, scope.userId],
    );
    return closed.length;
  }

  /** Files below a directory, for its download; the root for an empty path. */
  async filesBelow(workspaceId: number, path: string): Promise<WorkspaceFileRow[]> {
    return rows<WorkspaceFileRow>(
      this.dataSource.manager,
      `SELECT * FROM workspace_files WHERE workspace_id = $1 AND to_date = 'infinity' AND path LIKE $2 ORDER BY path`,
      [workspaceId, `${literalPattern(path)}/%`],
    );
  }

  /** Which of the given blobs a current file of any workspace has. */
  async blobKeysInUse(keys: readonly string[]): Promise<Set<string>> {
    const used = await rows<{ blob_key: string }>(
      this.dataSource.manager,
      `SELECT blob_key FROM workspace_files WHERE blob_key = ANY($1) AND to_date = 'infinity'`,
      [keys],
    );
    return new Set(used.map((row) => row.blob_key));
  }

  async usage(tx: Tx, workspaceId: number): Promise<{ files: number; directories: number; bytes: number }> {
    const row = await firstRow<{ files: number; directories: number; bytes: number }>(
      tx,
      `SELECT count(*) FILTER (WHERE NOT is_dir) AS files, count(*) FILTER (WHERE is_dir) AS directories,
         coalesce(sum(size_bytes), 0)::bigint AS bytes
       FROM workspace_files WHERE workspace_id = $1 AND to_date = 'infinity'`,
      [workspaceId],
    );
    return row ?? { files: 0, directories: 0, bytes: 0 };
  }
}
