import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { rows } from '../../../../platform/kernel/persistence/sql';
import type { LogOwnerTable } from './log-owner-tables';

/** Nodes send the rest of a log for a minute after its end, so compaction starts later. */
const COMPACTION_DELAY = '5 minutes';
/** A log that could not be compacted within this time stays as it is. */
const COMPACTION_TIMEOUT = '1 day';

/** Finds and marks runs and nodes by the state of their logs. */
@Injectable()
export class LogOwnersRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns owners that ended more than `days` ago and still have logs. */
  findExpired({ table, key, endedAt }: LogOwnerTable, days: number, limit: number): Promise<number[]> {
    return this.ids(
      `SELECT ${key} AS id FROM ${table} WHERE logs_kept AND ${endedAt} < platform_now() - $1 * interval '1 day' LIMIT $2`,
      [days, limit],
    );
  }

  async markDeleted({ table, key }: LogOwnerTable, ids: readonly number[]): Promise<void> {
    await this.dataSource.query(`UPDATE ${table} SET logs_kept = false WHERE ${key} = ANY($1)`, [ids]);
  }

  /** Returns owners that have ended and whose logs are not compacted yet. */
  findUncompacted({ table, key, endedAt }: LogOwnerTable, limit: number): Promise<number[]> {
    return this.ids(
      `SELECT ${key} AS id FROM ${table} WHERE logs_kept AND NOT logs_settled
         AND ${endedAt} BETWEEN platform_now() - interval '${COMPACTION_TIMEOUT}' AND platform_now() - interval '${COMPACTION_DELAY}'
       ORDER BY ${endedAt} LIMIT $1`,
      [limit],
    );
  }

  async markCompacted({ table, key }: LogOwnerTable, id: number): Promise<void> {
    await this.dataSource.query(`UPDATE ${table} SET logs_settled = true WHERE ${key} = $1`, [id]);
  }

  private async ids(sql: string, parameters: unknown[]): Promise<number[]> {
    return (await rows<{ id: number }>(this.dataSource.manager, sql, parameters)).map(({ id }) => id);
  }
}
