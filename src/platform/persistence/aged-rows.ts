import type { DataSource } from 'typeorm';
import { returning } from './sql';

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
export class AgedRowSweep {
  private nextAt = 0;

  constructor(
    private readonly dataSource: DataSource,
    private readonly days: number,
    private readonly sources: readonly AgedRows[],
  ) {}

  /** Answers how many rows it deleted. */
  async run(signal: AbortSignal): Promise<number> {
    if (Date.now() < this.nextAt) return 0;
    let deleted = 0;
    let isDone = true;
    for (const source of this.sources) {
      let last = BATCH;
      for (let batch = 0; batch < BATCHES && last === BATCH && !signal.aborted; batch += 1) {
        last = await this.deleteBatch(source);
        deleted += last;
      }
      isDone &&= last < BATCH;
    }
    if (isDone) this.nextAt = Date.now() + EVERY_MS;
    return deleted;
  }

  private async deleteBatch({ table, key, ended }: AgedRows): Promise<number> {
    const sql = `DELETE FROM ${table} WHERE ${key} IN (${ended} LIMIT ${BATCH}) RETURNING ${key}`;
    return (await returning(this.dataSource.manager, sql, [this.days])).length;
  }
}
