import { Injectable } from '@nestjs/common';
import { type AgedRows, AgedRowSweeper } from '../../../platform/workflows/aged-row-sweeper';

const FILES = { table: 'object_storage_files', key: 'object_storage_file_id' };

const SOURCES: readonly AgedRows[] = [
  {
    ...FILES,
    ended: `SELECT object_storage_file_id FROM object_storage_files
            WHERE to_date <> 'infinity' AND to_date < platform_now() - $1 * interval '1 day' ORDER BY to_date`,
  },
  // A deleted manager leaves the rows of its files as they are; looking for them is one index lookup each.
  {
    ...FILES,
    ended: `SELECT f.object_storage_file_id FROM object_storage_managers m CROSS JOIN LATERAL (
              SELECT object_storage_file_id FROM object_storage_files
              WHERE tenant_id = m.tenant_id AND object_storage_manager_id = m.object_storage_manager_id
                AND to_date = 'infinity' LIMIT 1000
            ) f
            WHERE m.to_date < platform_now() - $1 * interval '1 day'`,
  },
];

/** Removes the ids of files that were deleted long ago, themselves or with their manager. */
@Injectable()
export class FileIdSweeper extends AgedRowSweeper {
  readonly name = 'object-storage-files';
  protected readonly sources = SOURCES;
}
