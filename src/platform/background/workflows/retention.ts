import type { FactoryProvider } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../../config/config';
import { LOGGER, type Logger } from '../../kernel/logging/logger';
import { returning, rows, inTransaction } from '../../kernel/persistence/sql';
import { Reconciler } from './reconciler';

/** Rule for rows that are deleted some time after they have ended. */
export interface Retention {
  /** Name of the rows in the log, and of the sweeper's lock. */
  name: string;
  rows: readonly (EndedRows | EndedOwners)[];
  /** Days for which rows are kept after their end; defaults to `ENDED_ROWS_RETENTION_DAYS`. */
  retentionDays?: number;
  /** Pause between two passes, milliseconds; defaults to an hour. */
  intervalMs?: number;
  /** Maximum number of rows that one transaction deletes; defaults to 1000. */
  batch?: number;
}

export interface EndedRows {
  table: string;
  /** Key column, or several as a row: `(user_id, key)`. */
  key: string;
  /** SELECT, without a LIMIT, of the keys of rows that ended more than `$1` days ago. It needs an index. */
  ended: string;
}

/** Rows of several tables that are deleted together. */
export interface EndedOwners {
  /** SELECT of ids as `id`, as in {@link EndedRows}. It locks the rows, so that no dependent rows are added meanwhile. */
  ended: string;
  /** Each statement deletes rows of the ids `$1`, or marks them as done. */
  statements: readonly string[];
}

/** Limit of one pass. The next passes delete the rest, so that other work can use the database in between. */
const MAX_BATCHES = 10;

/** Returns a provider of a sweeper for these rows. */
export function retention(rule: Retention): FactoryProvider<RetentionSweeper> {
  return {
    provide: `retention of ${rule.name}`,
    inject: [DataSource, Config, LOGGER],
    useFactory: (dataSource: DataSource, config: Config, logger: Logger) =>
      new RetentionSweeper(rule, dataSource, config, logger),
  };
}

/**
 * Deletes ended rows at the interval of their rule. Each batch is a separate transaction, which the statement timeout bounds.
 * While there are more rows, passes of limited length follow soon after each other.
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
      for (let batch = 0; batch < MAX_BATCHES && last === this.batch && !signal.aborted; batch += 1) {
        last = await this.removeBatch(kind);
        removed += last;
      }
      isDone &&= last < this.batch;
    }
    if (removed > 0) this.logger.info({ removed, rows: this.name }, 'Deleted ended rows after their retention time');
    if (!isDone) return 'more';
  }

  /** Deletes a batch and returns the number of its rows. */
  private async removeBatch(kind: EndedRows | EndedOwners): Promise<number> {
    const { retentionDays = this.config.worker.endedRowsKeptDays } = this.rule;
    const ended = `${kind.ended} LIMIT ${this.batch}`;
    if ('table' in kind) {
      const sql = `DELETE FROM ${kind.table} WHERE ${kind.key} IN (${ended}) RETURNING 1`;
      return (await returning(this.dataSource.manager, sql, [retentionDays])).length;
    }
    return inTransaction(this.dataSource, async (tx) => {
      const ids = (await rows<{ id: number }>(tx, ended, [retentionDays])).map(({ id }) => id);
      if (ids.length > 0) for (const sql of kind.statements) await tx.query(sql, [ids]);
      return ids.length;
    });
  }
}
