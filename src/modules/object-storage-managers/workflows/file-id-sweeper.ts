import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../../config/config';
import { LOGGER, type Logger } from '../../../platform/logging/logger';
import { type AgedRows, AgedRowSweep } from '../../../platform/persistence/aged-rows';
import type { Reconciler } from '../../../platform/workflows/reconcile-loop';

const FILES = { table: 'object_storage_files', key: 'object_storage_file_id' };

const SOURCES: readonly AgedRows[] = [
  {
    ...FILES,
    ended: `SELECT object_storage_file_id FROM object_storage_files
            WHERE to_date <> 'infinity' AND to_date < now() - $1 * interval '1 day' ORDER BY to_date`,
  },
  // A manager that is deleted leaves the rows of its files as they are; each look for them is one into an index.
  {
    ...FILES,
    ended: `SELECT f.object_storage_file_id FROM object_storage_managers m CROSS JOIN LATERAL (
              SELECT object_storage_file_id FROM object_storage_files
              WHERE tenant_id = m.tenant_id AND object_storage_manager_id = m.object_storage_manager_id
                AND to_date = 'infinity' LIMIT 1000
            ) f
            WHERE m.to_date < now() - $1 * interval '1 day'`,
  },
];

/** Removes the ids of files that were deleted long ago, themselves or with their manager. */
@Injectable()
export class FileIdSweeper implements Reconciler {
  readonly name = 'object-storage-files';
  private readonly sweep: AgedRowSweep;

  constructor(
    dataSource: DataSource,
    config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.sweep = new AgedRowSweep(dataSource, config.worker.endedRowsKeptDays, SOURCES);
  }

  async reconcile(signal: AbortSignal): Promise<void> {
    const removed = await this.sweep.run(signal);
    if (removed > 0) this.logger.info({ removed }, 'Removed ids of files that were deleted long ago');
  }
}
