import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { NodeUtilization, UtilizationSample } from '../../../../../libs/contracts/agent-protocol';
import { rows } from '../../../../platform/kernel/persistence/sql';
import type { Retention } from '../../../../platform/background/workflows/retention';
import type { ClusterNode } from '../model/entities/cluster-node.entity';
import type { NodeUtilizationStep } from '../model/entities/node-utilization.entity';

/** Retention of utilization: the length of a step, and the number of steps per node. */
export interface UtilizationPeriod {
  stepSeconds: number;
  steps: number;
}

export const UTILIZATION_PERIODS = {
  hour: { stepSeconds: 60, steps: 60 },
  day: { stepSeconds: 900, steps: 96 },
} as const satisfies Record<string, UtilizationPeriod>;

/** The facts that are shown of a node besides its steps. */
export type MeasuredNode = Pick<ClusterNode, (typeof NODE_COLUMNS)[number]>;

const NODE_COLUMNS = [
  ...(['node_id', 'node_number', 'role', 'status', 'cores', 'memory_mb', 'from_date', 'to_date'] as const),
  ...(['warm_drivers', 'warm_starts', 'cold_starts'] as const),
] as const;

/**
 * Removes samples of nodes that are gone or stopped; running nodes overwrite their own. Nothing older than a day is
 * shown.
 */
export const AGED_UTILIZATION: Retention = {
  name: 'node-utilization',
  retentionDays: 1,
  rows: [
    {
      table: 'node_utilization',
      key: '(node_id, step_seconds, place)',
      ended: `SELECT node_id, step_seconds, place FROM node_utilization
            WHERE time < platform_now() - $1 * interval '1 day' ORDER BY time`,
    },
  ],
};

const MEASURED = ['millicores', 'memory_mb', 'disk_mb', 'busy_slots'] as const;
const SUMS = ['reports', ...MEASURED.map((of) => `${of}_sum`)];
const MAXIMA = MEASURED.map((of) => `${of}_max`);
const LATEST = ['disk_mb', 'slots'];

/** Merges a report into a step. A row that holds an older step is reset. */
const MERGED = [
  'time = excluded.time',
  ...SUMS.map((sum) => `${sum} = CASE WHEN u.time = excluded.time THEN u.${sum} ELSE 0 END + excluded.${sum}`),
  ...MAXIMA.map((max) => `${max} = greatest(CASE WHEN u.time = excluded.time THEN u.${max} END, excluded.${max})`),
  ...LATEST.map((latest) => `${latest} = excluded.${latest}`),
].join(', ');

/** Utilization of nodes, step by step. The caller has checked the tenant. */
@Injectable()
export class NodeUtilizationRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Adds a report of each of these nodes to its present steps. Reported values are capped by what the node has; slots
   * are known here. Steps are locked in a fixed order, so that processes do not deadlock.
   */
  async add(reports: ReadonlyMap<number, NodeUtilization>): Promise<void> {
    const periods = Object.values(UTILIZATION_PERIODS);
    const of = (value: (report: NodeUtilization) => number) => [...reports.values()].map(value);
    await this.dataSource.query(
      `INSERT INTO node_utilization AS u
         (node_id, step_seconds, place, time, ${[...SUMS, ...MAXIMA, ...LATEST].join(', ')})
       SELECT n.node_id, p.step_seconds, s.step % p.steps, to_timestamp(s.step * p.step_seconds), 1,
         least(r.millicores, h.millicores), least(r.memory_mb, n.memory_mb), least(r.disk_mb, r.disk_mb_total),
         least(n.busy_slots, h.slots),
         least(r.millicores_max, h.millicores), least(r.memory_mb_max, n.memory_mb), least(r.disk_mb_max, r.disk_mb_total),
         least(n.busy_slots, h.slots), r.disk_mb_total, h.slots
       FROM unnest($1::bigint[], $2::int[], $3::int[], $4::int[], $5::int[], $6::int[], $7::int[], $8::int[])
           AS r (node_id, millicores, millicores_max, memory_mb, memory_mb_max, disk_mb, disk_mb_max, disk_mb_total)
         JOIN cluster_nodes n ON n.node_id = r.node_id AND n.to_date = 'infinity'
         JOIN clusters c ON c.cluster_id = n.cluster_id
         CROSS JOIN LATERAL (SELECT n.cores * 1000::bigint AS millicores,
           CASE WHEN n.role = 'worker' THEN 0 WHEN n.draining THEN n.busy_slots ELSE c.max_parallel_jobs END AS slots) h
         CROSS JOIN unnest($9::int[], $10::int[]) AS p (step_seconds, steps)
         CROSS JOIN LATERAL (SELECT floor(extract(epoch FROM platform_now()) / p.step_seconds)::bigint AS step) s
       ORDER BY n.node_id, p.step_seconds
       ON CONFLICT (node_id, step_seconds, place) DO UPDATE SET ${MERGED} WHERE u.time <= excluded.time`,
      [
        [...reports.keys()],
        of(({ millicores }) => millicores.average),
        of(({ millicores }) => largest(millicores)),
        of(({ memory_mb }) => memory_mb.average),
        of(({ memory_mb }) => largest(memory_mb)),
        of(({ disk_mb }) => disk_mb.average),
        of(({ disk_mb }) => largest(disk_mb)),
        of(({ disk_mb }) => disk_mb.total),
        periods.map(({ stepSeconds }) => stepSeconds),
        periods.map(({ steps }) => steps),
      ],
    );
  }

  /**
   * Returns the nodes that a cluster had during the period: the present ones by number, then the former ones, latest
   * first.
   */
  nodes(
    clusterId: number,
    nodeNumber: number | undefined,
    { stepSeconds, steps }: UtilizationPeriod,
    limit: number,
  ): Promise<MeasuredNode[]> {
    return rows<MeasuredNode>(
      this.dataSource.manager,
      `SELECT ${NODE_COLUMNS.join(', ')} FROM cluster_nodes
       WHERE cluster_id = $1 AND to_date > platform_now() - $2 * interval '1 second'
         AND ($3::int IS NULL OR node_number = $3)
       ORDER BY to_date DESC, node_number LIMIT $4`,
      [clusterId, stepSeconds * steps, nodeNumber ?? null, limit],
    );
  }

  /** Returns the steps of these nodes during the period, by node and time. */
  steps(nodeIds: readonly number[], { stepSeconds, steps }: UtilizationPeriod): Promise<NodeUtilizationStep[]> {
    return rows<NodeUtilizationStep>(
      this.dataSource.manager,
      `SELECT * FROM node_utilization
       WHERE node_id = ANY($1) AND step_seconds = $2 AND time > platform_now() - $2 * $3 * interval '1 second'
       ORDER BY node_id, time`,
      [nodeIds, stepSeconds, steps],
    );
  }
}

function largest({ average, max }: UtilizationSample): number {
  return Math.max(average, max);
}
