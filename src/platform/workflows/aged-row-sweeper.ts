import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../config/config';
import { LOGGER, type Logger } from '../logging/logger';
import { returning } from '../persistence/sql';
import type { Reconciler } from './reconcile-loop';

/** Rows that are deleted some time after they have ended. */
export interface AgedRows {
  table: string;
  key: string;
  /** SELECT of the keys of those that ended more than `$1` days ago, without a LIMIT; an index has to serve it. */
  ended: string;
}

const BATCH = 1000;
/** Of a pass; others wait for their turn meanwhile. */
const BATCHES = 10;
const EVERY_MS = 60 * 60_000;

/**
 * Deletes rows that have ended, once an hour and in turns of bounded length while there are more. Each batch is a transaction
 * of its own, which the time limit of statements ends; what a sweep does not come to is left for the next.
 */
@Injectable()
export abstract class AgedRowSweeper implements Reconciler {
  abstract readonly name: string;
  protected abstract readonly sources: readonly AgedRows[];
  private nextAt = 0;

  constructor(
    private readonly dataSource: DataSource,
    private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async reconcile(signal: AbortSignal): Promise<void> {
    if (Date.now() < this.nextAt) return;
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
    if (isDone) this.nextAt = Date.now() + EVERY_MS;
    if (removed > 0) this.logger.info({ removed, rows: this.name }, 'Removed rows that ended long ago');
  }

  private async deleteBatch({ table, key, ended }: AgedRows): Promise<number> {
    const sql = `DELETE FROM ${table} WHERE ${key} IN (${ended} LIMIT ${BATCH}) RETURNING ${key}`;
    const days = this.config.worker.endedRowsKeptDays;
    return (await returning(this.dataSource.manager, sql, [days])).length;
  }
}
