import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { rows } from '../../../../platform/kernel/persistence/sql';
import type { LoggedRows } from './logged-rows';

/**
 * Nodes send the rest of a log for a minute after its end; a log that could not be settled within a day stays as it is.
 */
const SETTLED_AFTER = '5 minutes';
const SETTLED_WITHIN = '1 day';

/** Runs and nodes, as far as their logs are concerned. */
@Injectable()
export class LogOwners {
  constructor(private readonly dataSource: DataSource) {}

  /** Those that ended so many days ago and still have logs. */
  agedBy({ table, key, endedAt }: LoggedRows, days: number, limit: number): Promise<number[]> {
    return this.ids(
      `SELECT ${key} AS id FROM ${table} WHERE logs_kept AND ${endedAt} < platform_now() - $1 * interval '1 day' LIMIT $2`,
      [days, limit],
    );
  }

  async noteRemoved({ table, key }: LoggedRows, ids: readonly number[]): Promise<void> {
    await this.dataSource.query(`UPDATE ${table} SET logs_kept = false WHERE ${key} = ANY($1)`, [ids]);
  }

  /** Those that ended a while ago, and whose logs are still in as many pieces as they were written in. */
  unsettled({ table, key, endedAt }: LoggedRows, limit: number): Promise<number[]> {
    return this.ids(
      `SELECT ${key} AS id FROM ${table} WHERE logs_kept AND NOT logs_settled
         AND ${endedAt} BETWEEN platform_now() - interval '${SETTLED_WITHIN}' AND platform_now() - interval '${SETTLED_AFTER}'
       ORDER BY ${endedAt} LIMIT $1`,
      [limit],
    );
  }

  async noteSettled({ table, key }: LoggedRows, subject: number): Promise<void> {
    await this.dataSource.query(`UPDATE ${table} SET logs_settled = true WHERE ${key} = $1`, [subject]);
  }

  private async ids(sql: string, parameters: unknown[]): Promise<number[]> {
    return (await rows<{ id: number }>(this.dataSource.manager, sql, parameters)).map(({ id }) => id);
  }
}
