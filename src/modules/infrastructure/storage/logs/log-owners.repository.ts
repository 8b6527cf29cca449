import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { LogName } from '../../../../../libs/object-storage/log-store';
import { rows } from '../../../../platform/kernel/persistence/sql';

type Kind = LogName['kind'];

/** A kind that has logs: its table, its key and when it ended. */
const SOURCES: Record<Kind, { table: string; id: string; endedAt: string }> = {
  run: { table: 'runs', id: 'run_id', endedAt: 'ended_at' },
  node: { table: 'cluster_nodes', id: 'node_id', endedAt: 'to_date' },
};

/**
 * Nodes send the rest of a log for a minute after its end; a log that could not be settled within a day stays as it is.
 */
const SETTLED_AFTER = '5 minutes';
const SETTLED_WITHIN = '1 day';

/** Runs and nodes, as far as their logs are concerned. */
@Injectable()
export class LogOwners {
  readonly kinds: readonly Kind[] = ['run', 'node'];

  constructor(private readonly dataSource: DataSource) {}

  /** Those that ended so many days ago and still have logs. */
  agedBy(kind: Kind, days: number, limit: number): Promise<number[]> {
    const { table, id, endedAt } = SOURCES[kind];
    return this.ids(
      `SELECT ${id} AS id FROM ${table} WHERE logs_kept AND ${endedAt} < platform_now() - $1 * interval '1 day' LIMIT $2`,
      [days, limit],
    );
  }

  async noteRemoved(kind: Kind, ids: readonly number[]): Promise<void> {
    const { table, id } = SOURCES[kind];
    await this.dataSource.query(`UPDATE ${table} SET logs_kept = false WHERE ${id} = ANY($1)`, [ids]);
  }

  /** Those that ended a while ago, and whose logs are still in as many pieces as they were written in. */
  unsettled(kind: Kind, limit: number): Promise<number[]> {
    const { table, id, endedAt } = SOURCES[kind];
    return this.ids(
      `SELECT ${id} AS id FROM ${table} WHERE logs_kept AND NOT logs_settled
         AND ${endedAt} BETWEEN platform_now() - interval '${SETTLED_WITHIN}' AND platform_now() - interval '${SETTLED_AFTER}'
       ORDER BY ${endedAt} LIMIT $1`,
      [limit],
    );
  }

  async noteSettled(kind: Kind, subject: number): Promise<void> {
    const { table, id } = SOURCES[kind];
    await this.dataSource.query(`UPDATE ${table} SET logs_settled = true WHERE ${id} = $1`, [subject]);
  }

  private async ids(sql: string, parameters: unknown[]): Promise<number[]> {
    return (await rows<{ id: number }>(this.dataSource.manager, sql, parameters)).map(({ id }) => id);
  }
}
