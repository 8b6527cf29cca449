import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../config/config';
import { LOGGER, type Logger } from '../logging/logger';
import { returning } from '../persistence/sql';
import { Reconciler } from './reconciler';

/** Rows that are deleted some time after they ended. */
export interface AgedRows {
  table: string;
  /** A column, or several as a row: `(user_id, key)`. */
  key: string;
  /** SELECT of the keys of those that ended more than `$1` days ago, without a LIMIT; an index has to serve it. */
  ended: string;
}

const BATCH = 1000;
/** Limit of a pass; the rest is left for the next ones, so that others get to the database in between. */
const BATCHES = 10;

/**
 * Deletes rows that have ended, once an hour and in turns of bounded length while there are more. Each batch is a
 * transaction of its own, bounded by the statement timeout; what a sweep does not reach is left for the next.
 */
@Injectable()
export abstract class AgedRowSweeper extends Reconciler {
  readonly everyMs = 60 * 60_000;
  readonly deadlineMs = 120_000;
  protected abstract readonly sources: readonly AgedRows[];

  constructor(
    private readonly dataSource: DataSource,
    protected readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
  }

  async reconcile(signal: AbortSignal): Promise<void | 'more'> {
    let removed = 0;
    let isDone = true;
    for (const source of this.sources) {
      let last = BATCH;
      for (let batch = 0; batch < BATCHES && last === BATCH && !signal.aborted; batch += 1) {
        last = await this.deleteBatch(source);
        removed += last;
      }
      isDone &&= last < BATCH;
    }
    if (removed > 0) this.logger.info({ removed, rows: this.name }, 'Removed rows that ended long ago');
    if (!isDone) return 'more';
  }

  /** How long rows are kept after their end. */
  protected get keptDays(): number {
    return this.config.worker.endedRowsKeptDays;
  }

  private async deleteBatch({ table, key, ended }: AgedRows): Promise<number> {
    const sql = `DELETE FROM ${table} WHERE ${key} IN (${ended} LIMIT ${BATCH}) RETURNING 1`;
    return (await returning(this.dataSource.manager, sql, [this.keptDays])).length;
  }
}
