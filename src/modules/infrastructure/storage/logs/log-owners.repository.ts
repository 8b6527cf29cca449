import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { finds, Params, rows, type SqlValue } from '../../../../platform/kernel/persistence/sql';
import type { LogOwnerTable } from './log-owner-tables';

/** Nodes send the rest of a log for a minute after its end, so compaction starts later. */
const COMPACTION_DELAY = '5 minutes';
/** A log that could not be compacted within this time stays as it is. */
const COMPACTION_TIMEOUT = '1 day';

const expired = (params: Params, { table, key, endedAt }: LogOwnerTable, days: number) =>
  `SELECT ${key} AS id FROM ${table}
   WHERE logs_kept AND ${endedAt} < platform_now() - ${params.add(days)} * interval '1 day'`;

const uncompacted = ({ table, key, endedAt }: LogOwnerTable) =>
  `SELECT ${key} AS id FROM ${table} WHERE logs_kept AND NOT logs_settled
     AND ${endedAt} BETWEEN platform_now() - interval '${COMPACTION_TIMEOUT}' AND platform_now() - interval '${COMPACTION_DELAY}'
   ORDER BY ${endedAt}`;

/** Finds and marks runs and nodes by the state of their logs. */
@Injectable()
export class LogOwnersRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns owners that ended more than `days` ago and still have logs. */
  findExpired(owner: LogOwnerTable, days: number, limit: number): Promise<number[]> {
    const params = new Params();
    return this.ids(`${expired(params, owner, days)} LIMIT ${params.add(limit)}`, params.values);
  }

  /** Returns a condition that is true if {@link findExpired} would return an owner. */
  hasExpired(params: Params, owner: LogOwnerTable, days: number): string {
    return finds(expired(params, owner, days));
  }

  async markDeleted({ table, key }: LogOwnerTable, ids: readonly number[]): Promise<void> {
    await this.dataSource.query(`UPDATE ${table} SET logs_kept = false WHERE ${key} = ANY($1)`, [ids]);
  }

  /** Returns owners that have ended and whose logs are not compacted yet. */
  findUncompacted(owner: LogOwnerTable, limit: number): Promise<number[]> {
    return this.ids(`${uncompacted(owner)} LIMIT $1`, [limit]);
  }

  /** Returns a condition that is true if {@link findUncompacted} would return an owner. */
  hasUncompacted(owner: LogOwnerTable): string {
    return finds(uncompacted(owner));
  }

  async markCompacted({ table, key }: LogOwnerTable, id: number): Promise<void> {
    await this.dataSource.query(`UPDATE ${table} SET logs_settled = true WHERE ${key} = $1`, [id]);
  }

  private async ids(sql: string, parameters: readonly SqlValue[]): Promise<number[]> {
    return (await rows<{ id: number }>(this.dataSource.manager, sql, parameters)).map(({ id }) => id);
  }
}
