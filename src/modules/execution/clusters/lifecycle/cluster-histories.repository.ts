import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type Page, pageOf, type PageRequest } from '../../../../platform/kernel/dto/page';
import { firstRow, rows } from '../../../../platform/kernel/persistence/sql';
import type { ClusterNode } from '../model/entities/cluster-node.entity';
import type { ClusterStateEntry } from '../model/entities/cluster-state.entity';
import type { NodeStateEntry } from '../model/entities/node-state.entity';

/** The columns that every entry of a state history is shown with. */
export type StateFacts = Pick<ClusterStateEntry, 'status' | 'reason' | 'step' | 'start_time' | 'end_time'> & {
  username: string | null;
};

type ClusterStateRow = StateFacts & Pick<ClusterStateEntry, 'cluster_state_id' | 'node_count'>;
type NodeStateRow = StateFacts &
  Pick<NodeStateEntry, 'node_state_id' | 'cluster_state_id'> &
  Pick<ClusterNode, 'node_number'>;

/** A state that a cluster, or one of its nodes, entered. */
export type EnteredState = StateFacts & { node_id: number | null; node_number: number | null };

/** State histories of a cluster and its nodes, for users; the caller has checked the tenant. */
@Injectable()
export class ClusterHistoriesRepository {
  constructor(private readonly dataSource: DataSource) {}

  async states(clusterId: number, page: PageRequest): Promise<Page<ClusterStateRow>> {
    const total = await this.count('SELECT count(*) AS total FROM cluster_states WHERE cluster_id = $1', [clusterId]);
    const data = await rows<ClusterStateRow>(
      this.dataSource.manager,
      `SELECT s.cluster_state_id, s.status, s.node_count, s.step, u.username, s.reason, s.start_time, s.end_time
       FROM cluster_states s LEFT JOIN users u ON u.user_id = s.actor_user_id
       WHERE s.cluster_id = $1 ORDER BY s.sequence DESC LIMIT $2 OFFSET $3`,
      [clusterId, page.limit, (page.pageNumber - 1) * page.limit],
    );
    return pageOf(data, total, page);
  }

  async nodeStates(clusterId: number, nodeNumber: number | undefined, page: PageRequest): Promise<Page<NodeStateRow>> {
    const from = `FROM node_states s JOIN cluster_nodes n ON n.node_id = s.node_id
      WHERE s.cluster_id = $1 AND ($2::int IS NULL OR n.node_number = $2)`;
    const params = [clusterId, nodeNumber ?? null];
    const total = await this.count(`SELECT count(*) AS total ${from}`, params);
    const data = await rows<NodeStateRow>(
      this.dataSource.manager,
      `SELECT s.node_state_id, s.status, n.node_number, s.cluster_state_id, s.step, s.reason, s.start_time, s.end_time,
         (SELECT u.username FROM users u WHERE u.user_id = s.actor_user_id) AS username
       ${from} ORDER BY s.node_state_id DESC LIMIT $3 OFFSET $4`,
      [...params, page.limit, (page.pageNumber - 1) * page.limit],
    );
    return pageOf(data, total, page);
  }

  /**
   * Returns the state of the cluster at a time and those that it and its nodes entered until another, oldest first, at most `limit` of
   * each.
   */
  async between(clusterId: number, from: Date, to: Date, limit: number): Promise<EnteredState[]> {
    const entered = (table: 'cluster_states' | 'node_states', since: string) => `
      SELECT s.status, s.reason, s.step, s.start_time, s.end_time, s.actor_user_id,
        ${table === 'node_states' ? 's.node_id' : 'NULL::bigint'} AS node_id
      FROM ${table} s WHERE s.cluster_id = $1 AND s.start_time > ${since} AND s.start_time <= $3
      ORDER BY s.start_time LIMIT $4`;
    return rows<EnteredState>(
      this.dataSource.manager,
      `SELECT s.status, s.reason, s.step, s.start_time, s.end_time, u.username, n.node_number, n.node_id
       FROM (SELECT * FROM (
           SELECT c.status, c.reason, c.step, c.start_time, c.end_time, c.actor_user_id, NULL::bigint AS node_id
           FROM cluster_states c WHERE c.cluster_id = $1 AND c.start_time <= $2 ORDER BY c.start_time DESC LIMIT 1) at
         UNION ALL (${entered('cluster_states', '$2')}) UNION ALL (${entered('node_states', '$2')})) s
       LEFT JOIN cluster_nodes n ON n.node_id = s.node_id LEFT JOIN users u ON u.user_id = s.actor_user_id
       ORDER BY s.start_time, n.node_number NULLS FIRST`,
      [clusterId, from, to, limit],
    );
  }

  /** Returns the node that a state belongs to; null if the cluster has no such state. */
  async nodeOfState(
    clusterId: number,
    nodeStateId: number,
  ): Promise<Pick<NodeStateEntry, 'node_id' | 'workflow_job_instance_id'> | null> {
    return firstRow(
      this.dataSource.manager,
      'SELECT node_id, workflow_job_instance_id FROM node_states WHERE cluster_id = $1 AND node_state_id = $2',
      [clusterId, nodeStateId],
    );
  }

  private async count(sql: string, params: readonly unknown[]): Promise<number> {
    return (await firstRow<{ total: number }>(this.dataSource.manager, sql, params))?.total ?? 0;
  }
}
