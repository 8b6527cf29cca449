import { Injectable } from '@nestjs/common';
import type { NodeUtilization } from '../../../../../libs/contracts/agent-protocol';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { validity } from '../../../../platform/kernel/dto/response-fields';
import { ClusterRowsRepository } from '../model/cluster-rows.repository';
import type { ClusterMetrics, ClusterMetricsQuery, NodeMetricsPoint, ResourceUse } from './dto/cluster-metrics.dto';
import type { NodeUtilizationStep } from '../model/entities/node-utilization.entity';
import { type MeasuredNode, NodeUtilizationRepository, UTILIZATION_PERIODS } from './node-utilization.repository';

/** Maximum number of nodes in a response. The largest cluster has fewer, apart from its former nodes. */
const MAX_NODES = 128;

@Injectable()
export class ClusterMetricsService {
  constructor(
    private readonly clusters: ClusterRowsRepository,
    private readonly utilization: NodeUtilizationRepository,
  ) {}

  async record(reports: ReadonlyMap<number, NodeUtilization>): Promise<void> {
    await this.utilization.add(reports);
  }

  async metrics(
    scope: TenantScope,
    clusterId: number,
    { period, node_number: nodeNumber }: ClusterMetricsQuery,
  ): Promise<ClusterMetrics> {
    const { cluster_id } = await this.clusters.identify(scope, { id: clusterId });
    const kept = UTILIZATION_PERIODS[period];
    const nodes = await this.utilization.nodes(cluster_id, nodeNumber, kept, MAX_NODES);
    const steps = await this.utilization.steps(
      nodes.map(({ node_id }) => node_id),
      kept,
    );
    const measured = new Map(nodes.map((node) => [node.node_id, { node, points: [] as NodeMetricsPoint[] }]));
    for (const step of steps) {
      const entry = measured.get(step.node_id);
      entry?.points.push(pointOf(entry.node, step));
    }
    return {
      cluster_id,
      period,
      step_seconds: kept.stepSeconds,
      nodes: [...measured.values()].map(({ node, points }) => ({
        node_number: node.node_number,
        role: node.role,
        node_status: node.status,
        ...validity(node),
        warm_drivers: node.status === 'RUNNING' ? node.warm_drivers : null,
        warm_starts: node.warm_starts,
        cold_starts: node.cold_starts,
        points,
      })),
    };
  }
}

function pointOf({ cores, memory_mb }: MeasuredNode, step: NodeUtilizationStep): NodeMetricsPoint {
  const use = (sum: number, max: number, total: number): ResourceUse => {
    const used = rounded(sum / step.reports);
    return { used, used_max: rounded(max), free: rounded(Math.max(0, total - used)) };
  };
  return {
    time: step.time,
    cores: use(step.millicores_sum / 1000, step.millicores_max / 1000, cores),
    memory_mb: use(step.memory_mb_sum, step.memory_mb_max, memory_mb),
    disk_mb: use(step.disk_mb_sum, step.disk_mb_max, step.disk_mb),
    slots: use(step.busy_slots_sum, step.busy_slots_max, step.slots),
  };
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
