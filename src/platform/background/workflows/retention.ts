import type { FactoryProvider } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../../config/config';
import { LOGGER, type Logger } from '../../kernel/logging/logger';
import { returning } from '../../kernel/persistence/sql';
import { Reconciler } from './reconciler';

/** Rows that are deleted some time after they ended. */
export interface Retention {
  /** Names the rows in the log, and the lock of their sweeper. */
  name: string;
  rows: readonly EndedRows[];
  /** How many days the rows are kept after their end; defaults to `ENDED_ROWS_RETENTION_DAYS`. */
  keptDays?: number;
}

export interface EndedRows {
  table: string;
  /** A column, or several as a row: `(user_id, key)`. */
  key: string;
  /** SELECT of the keys of those that ended more than `$1` days ago, without a LIMIT; an index has to serve it. */
  ended: string;
}

const BATCH = 1000;
/** Limit of a pass; the rest is left for the next ones, so that others get to the database in between. */
const BATCHES = 10;

/** Provides a worker module with a sweeper of these rows. */
export function retention(rule: Retention): FactoryProvider<RetentionSweeper> {
  return {
    provide: `retention of ${rule.name}`,
    inject: [DataSource, Config, LOGGER],
    useFactory: (dataSource: DataSource, config: Config, logger: Logger) =>
      new RetentionSweeper(rule, dataSource, config, logger),
  };
}

/**
 * Deletes rows that have ended, once an hour and in turns of bounded length while there are more. Each batch is a
 * transaction of its own, bounded by the statement timeout; what a sweep does not reach is left for the next.
 */
export class RetentionSweeper extends Reconciler {
  readonly everyMs = 60 * 60_000;
  readonly deadlineMs = 120_000;
  readonly name = this.rule.name;

  constructor(
    private readonly rule: Retention,
    private readonly dataSource: DataSource,
    private readonly config: Config,
    private readonly logger: Logger,
  ) {
    super();
  }

  async reconcile(signal: AbortSignal): Promise<void | 'more'> {
    let removed = 0;
    let isDone = true;
    for (const rows of this.rule.rows) {
      let last = BATCH;
      for (let batch = 0; batch < BATCHES && last === BATCH && !signal.aborted; batch += 1) {
        last = await this.deleteBatch(rows);
        removed += last;
      }
      isDone &&= last < BATCH;
    }
    if (removed > 0) this.logger.info({ removed, rows: this.name }, 'Removed rows that ended long ago');
    if (!isDone) return 'more';
  }

  private async deleteBatch({ table, key, ended }: EndedRows): Promise<number> {
    const sql = `DELETE FROM ${table} WHERE ${key} IN (${ended} LIMIT ${BATCH}) RETURNING 1`;
    const { keptDays = this.config.worker.endedRowsKeptDays } = this.rule;
    return (await returning(this.dataSource.manager, sql, [keptDays])).length;
  }
}
