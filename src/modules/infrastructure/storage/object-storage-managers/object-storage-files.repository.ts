import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { parentOf } from '../../../../platform/kernel/files/file-path';
import type { AuthorNames } from '../../../../platform/kernel/dto/response-fields';
import { literalPattern, rows, type Db, type Tx } from '../../../../platform/kernel/persistence/sql';
import { inTenant, ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import { authorSql } from '../../../../platform/http/resources/resource-repository';
import type { Retention } from '../../../../platform/background/workflows/retention';
import { ObjectStorageFile } from './entities/object-storage-file.entity';

export interface FileKey {
  path: string;
  isDir: boolean;
}

export type ObjectStorageFileRow = ObjectStorageFile & AuthorNames;

/** Retries are needed if one request deletes files while others list them for the first time. */
const MAX_ATTEMPTS = 5;

const ROWS = { table: 'object_storage_files', key: 'object_storage_file_id' };

/** Retention of rows whose file, or whose manager, was deleted. */
export const ENDED_FILES: Retention = {
  name: 'object-storage-files',
  rows: [
    {
      ...ROWS,
      ended: `SELECT object_storage_file_id FROM object_storage_files
            WHERE to_date <> 'infinity' AND to_date < platform_now() - $1 * interval '1 day' ORDER BY to_date`,
    },
    // Deleting a manager does not close the rows of its files. Finding them costs one index lookup per manager.
    {
      ...ROWS,
      ended: `SELECT f.object_storage_file_id FROM object_storage_managers m CROSS JOIN LATERAL (
              SELECT t.object_storage_file_id FROM object_storage_files t
              WHERE t.tenant_id = m.tenant_id AND t.object_storage_manager_id = m.object_storage_manager_id
                AND t.to_date = 'infinity' LIMIT 1000
            ) f
            WHERE m.to_date < platform_now() - $1 * interval '1 day'`,
    },
  ],
};

/** Stores the ids of paths. A row does not mean that the file exists. */
@Injectable()
export class ObjectStorageFilesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns null if the manager has no path with this id. */
  async find(scope: TenantScope, managerId: number, id: number): Promise<FileKey | null> {
    const row = await this.dataSource.manager.findOneBy(ObjectStorageFile, {
      ...inTenant(scope),
      object_storage_manager_id: managerId,
      object_storage_file_id: id,
      to_date: Infinity,
    });
    return row && { path: row.path, isDir: row.is_dir };
  }

  /** Returns the rows of files and their parent directories. Creates missing rows. */
  async identify(scope: TenantScope, managerId: number, files: readonly FileKey[], tx?: Tx): Promise<FileIds> {
    const executor = tx ?? this.dataSource.manager;
    const keys = [...withParents(files).values()];
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const found = new FileIds(await this.current(executor, scope, managerId, keys));
      const missing = keys.filter((key) => !found.has(key));
      if (missing.length === 0) return found;
      await this.insert(executor, scope, managerId, missing, null);
    }
    throw new Error('The files to list were deleted repeatedly while their ids were created');
  }

  /** Creates the row of an uploaded file or directory, or updates its last author. */
  async write(tx: Tx, scope: TenantScope, managerId: number, key: FileKey): Promise<FileIds> {
    await this.insert(tx, scope, managerId, [...withParents([key]).values()], scope.userId);
    await tx.query(
      `UPDATE object_storage_files SET modified_by_user_id = $5, last_update_date = platform_now()
       WHERE ${ofTenant('object_storage_files', '$1')} AND object_storage_manager_id = $2 AND path = $3 AND is_dir = $4 AND to_date = 'infinity'`,
      [scope.tenantId, managerId, key.path, key.isDir, scope.userId],
    );
    return this.identify(scope, managerId, [key], tx);
  }

  /** Closes the row of a file, or those of a directory and everything below it. */
  async close(tx: Tx, scope: TenantScope, managerId: number, { path, isDir }: FileKey): Promise<void> {
    await tx.query(
      `UPDATE object_storage_files SET to_date = platform_now(), modified_by_user_id = $6, last_update_date = platform_now()
       WHERE ${ofTenant('object_storage_files', '$1')} AND object_storage_manager_id = $2 AND to_date = 'infinity'
         AND ((path = $3 AND is_dir = $4) OR ($4 AND path LIKE $5))`,
      [scope.tenantId, managerId, path, isDir, `${literalPattern(path)}/%`, scope.userId],
    );
  }

  private current(db: Db, scope: TenantScope, managerId: number, keys: FileKey[]): Promise<ObjectStorageFileRow[]> {
    const author = authorSql();
    return rows<ObjectStorageFileRow>(
      db,
      `SELECT t.*, ${author.names} FROM unnest($3::text[], $4::boolean[]) AS k (path, is_dir)
       JOIN object_storage_files t ON t.path = k.path AND t.is_dir = k.is_dir ${author.joins}
       WHERE ${ofTenant('t', '$1')} AND t.object_storage_manager_id = $2 AND t.to_date = 'infinity'`,
      [scope.tenantId, managerId, ...columnsOf(keys)],
    );
  }

  /** Inserts in a fixed order, so that concurrent requests cannot deadlock. */
  private async insert(
    db: Db,
    scope: TenantScope,
    managerId: number,
    keys: FileKey[],
    authorId: number | null,
  ): Promise<void> {
    await db.query(
      `INSERT INTO object_storage_files
         (tenant_id, object_storage_manager_id, path, is_dir, created_by_user_id, modified_by_user_id)
       SELECT $1, $2, path, is_dir, $5::bigint, $5::bigint FROM unnest($3::text[], $4::boolean[]) AS missing (path, is_dir)
       ORDER BY path COLLATE "C", is_dir
       ON CONFLICT (tenant_id, object_storage_manager_id, path, is_dir) WHERE to_date = 'infinity' DO NOTHING`,
      [scope.tenantId, managerId, ...columnsOf(keys), authorId],
    );
  }
}

export class FileIds {
  private readonly rows: Map<string, ObjectStorageFileRow>;

  constructor(found: readonly ObjectStorageFileRow[]) {
    this.rows = new Map(found.map((row) => [textOf({ path: row.path, isDir: row.is_dir }), row]));
  }

  has(key: FileKey): boolean {
    return this.rows.has(textOf(key));
  }

  rowOf(key: FileKey): ObjectStorageFileRow {
    const row = this.rows.get(textOf(key));
    if (!row) throw new Error(`The row of ${key.path} was not loaded`);
    return row;
  }

  /** Returns the id of the parent directory; null at the root. */
  parentIdOf({ path }: FileKey): number | null {
    const parent = parentOf(path);
    return parent === '' ? null : this.rowOf({ path: parent, isDir: true }).object_storage_file_id;
  }
}

function withParents(files: readonly FileKey[]): Map<string, FileKey> {
  const parents = files.map(({ path }) => ({ path: parentOf(path), isDir: true }));
  return new Map([...files, ...parents].filter(({ path }) => path !== '').map((key) => [textOf(key), key]));
}

/** A trailing slash marks a directory; no path itself ends in one. */
function textOf({ path, isDir }: FileKey): string {
  return isDir ? `${path}/` : path;
}

function columnsOf(keys: readonly FileKey[]): [string[], boolean[]] {
  return [keys.map(({ path }) => path), keys.map(({ isDir }) => isDir)];
}
