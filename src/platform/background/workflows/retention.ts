import type { FactoryProvider } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../../config/config';
import { LOGGER, type Logger } from '../../kernel/logging/logger';
import { returning, rows } from '../../kernel/persistence/sql';
import { Reconciler } from './reconciler';

/** Rows that are removed some time after they ended. */
export interface Retention {
  /** Names the rows in the log, and the lock of their sweeper. */
  name: string;
  rows: readonly (EndedRows | EndedOwners)[];
  /** How many days the rows are kept after their end; defaults to `ENDED_ROWS_RETENTION_DAYS`. */
  retentionDays?: number;
  /** Pause between two passes, milliseconds; defaults to an hour. */
  intervalMs?: number;
  /** How many of them one transaction removes; defaults to 1000. */
  batch?: number;
}

export interface EndedRows {
  table: string;
  /** A column, or several as a row: `(user_id, key)`. */
  key: string;
  /** SELECT of the keys of those that ended more than `$1` days ago, without a LIMIT; an index has to serve it. */
  ended: string;
}

/** Rows of several tables that go together. */
export interface EndedOwners {
  /** SELECT of ids, as `id`, like that of {@link EndedRows}; it locks what it finds, so that nothing is added meanwhile. */
  ended: string;
  /** Each removes, or marks as done, what belongs to the ids `$1`. */
  statements: readonly string[];
}

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
 * Removes rows that have ended, at the pace of their rule and in turns of bounded length while there are more. Each batch is a
 * transaction of its own, bounded by the statement timeout; what a sweep does not reach is left for the next.
 */
export class RetentionSweeper extends Reconciler {
  readonly intervalMs = this.rule.intervalMs ?? 60 * 60_000;
  readonly deadlineMs = 120_000;
  readonly name = this.rule.name;
  private readonly batch = this.rule.batch ?? 1000;

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
    for (const kind of this.rule.rows) {
      let last = this.batch;
      for (let batch = 0; batch < BATCHES && last === this.batch && !signal.aborted; batch += 1) {
        last = await this.removeBatch(kind);
        removed += last;
      }
      isDone &&= last < this.batch;
    }
    if (removed > 0) this.logger.info({ removed, rows: this.name }, 'Removed rows that ended long ago');
    if (!isDone) return 'more';
  }

  /** How many there were. */
  private async removeBatch(kind: EndedRows | EndedOwners): Promise<number> {
    const { retentionDays = this.config.worker.endedRowsKeptDays } = this.rule;
    const ended = `${kind.ended} LIMIT ${this.batch}`;
    if ('table' in kind) {
      const sql = `DELETE FROM ${kind.table} WHERE ${kind.key} IN (${ended}) RETURNING 1`;
      return (await returning(this.dataSource.manager, sql, [retentionDays])).length;
    }
    return this.dataSource.transaction(async (tx) => {
      const ids = (await rows<{ id: number }>(tx, ended, [retentionDays])).map(({ id }) => id);
      if (ids.length > 0) for (const sql of kind.statements) await tx.query(sql, [ids]);
      return ids.length;
    });
  }
}
