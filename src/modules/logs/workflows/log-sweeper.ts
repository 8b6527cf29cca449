import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { LogName } from '../../../../libs/object-storage/log-store';
import { Config } from '../../../config/config';
import { rows } from '../../../platform/persistence/sql';
import type { Reconciler } from '../../../platform/workflows/reconcile-loop';
import { LogsService } from '../logs.service';

const BATCH = 200;

/** What has logs: its table, its key and when it ended. */
const SOURCES: readonly { kind: LogName['kind']; table: string; id: string; endedAt: string }[] = [
  { kind: 'run', table: 'runs', id: 'run_id', endedAt: 'ended_at' },
  { kind: 'node', table: 'cluster_nodes', id: 'node_id', endedAt: 'to_date' },
];

/** Removes logs that are older than the configuration keeps them. */
@Injectable()
export class LogSweeper implements Reconciler {
  readonly name = 'logs';

  constructor(
    private readonly dataSource: DataSource,
    private readonly logs: LogsService,
    private readonly config: Config,
  ) {}

  async reconcile(): Promise<void> {
    for (const { kind, table, id, endedAt } of SOURCES) {
      const old = await rows<{ id: number }>(
        this.dataSource.manager,
        `SELECT ${id} AS id FROM ${table} WHERE logs_kept AND ${endedAt} < now() - $1 * interval '1 day' LIMIT ${BATCH}`,
        [this.config.storage.logRetentionDays],
      );
      for (const { id: subject } of old) await this.logs.delete(kind, subject);
      if (old.length === 0) continue;
      const ids = old.map((row) => row.id);
      await this.dataSource.query(`UPDATE ${table} SET logs_kept = false WHERE ${id} = ANY($1)`, [ids]);
    }
  }
}
