import { nameEnum } from '../../../../../platform/kernel/dto/named-enums';
import type { NodeRole } from '../../../../../../libs/contracts/agent-protocol';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About } from '../../../../../platform/kernel/dto/schemas';
import { NODE_STATUSES } from '../../model/cluster-state';

const PERIODS = nameEnum('MetricsPeriod', ['hour', 'day'], 'The period that metrics cover, up to now.');
const ROLES = nameEnum('NodeRole', ['single', 'master', 'worker', 'master-and-workers'], 'What runs on a node.', {
  single: "jobs in Spark's local mode, without Spark daemons",
  master: 'the Spark master',
  worker: 'a Spark worker',
  'master-and-workers': 'the Spark master and workers',
}) satisfies readonly NodeRole[];

export class ClusterMetricsQuery {
  @Param.oneOf(PERIODS, {
    default: 'hour',
    description: 'The last hour in steps of a minute, or the last day in steps of 15 minutes',
  })
  period: (typeof PERIODS)[number] = 'hour';
  @Param.int32({ min: 0, description: 'Only the node with this number; every node if it is absent' })
  node_number?: number;
}

@About('How much of a resource of a node was in use during a step.')
export class ResourceUse {
  @Field.number({ description: 'Average during the step' }) used: number;
  @Field.number({ description: 'Maximum during the step' }) used_max: number;
  @Field.number({ description: 'Total of the node minus `used`' }) free: number;
}

@About('What a node used during one step.')
export class NodeMetricsPoint {
  @Field.timestamp({ description: 'When the step began' }) time: Date;
  @Field.object(() => ResourceUse, { description: 'Processor cores' }) cores: ResourceUse;
  @Field.object(() => ResourceUse, { description: 'Memory in MB' }) memory_mb: ResourceUse;
  @Field.object(() => ResourceUse, { description: 'Disk space in MB; nodes that share a machine share its disk' })
  disk_mb: ResourceUse;
  @Field.object(() => ResourceUse, { description: 'Slots for jobs' })
  slots: ResourceUse;
}

@About('What one node used during the period.')
export class NodeMetrics {
  @Field.int64() node_number: number;
  @Field.oneOf(ROLES, {
    description:
      'Which Spark daemons the node runs: none but drivers (single), a master, a worker, or a master and workers',
  })
  role: string;
  @Field.oneOf(NODE_STATUSES) node_status: string;
  @Field.timestamp({ description: 'When the node was created' }) from_date: Date;
  @Field.validityEnd({
    description: 'When the node was destroyed, in ISO 8601; `infinity` for a present one; null means the same',
  })
  to_date: Date | 'infinity' | null;
  @Field.int32({
    nullable: true,
    description: 'Drivers that wait for runs now; null if the node keeps none ready, or does not run',
    example: 1,
  })
  warm_drivers: number | null;
  @Field.int64({ description: 'Runs that a waiting driver took, since the node was created', example: 12 })
  warm_starts: number;
  @Field.int64({
    description: 'Runs for which a driver was started although the node keeps some ready, since it was created',
    example: 3,
  })
  cold_starts: number;
  @Field.objects(() => NodeMetricsPoint, {
    description: 'In order of time, without the steps in which the node sent no report',
  })
  points: NodeMetricsPoint[];
}

@About('What the nodes of a cluster used.')
export class ClusterMetrics {
  @Field.id() cluster_id: number;
  @Field.oneOf(PERIODS, { description: 'The period of the answer' }) period: string;
  @Field.int64({ description: 'Seconds of each step' }) step_seconds: number;
  @Field.objects(() => NodeMetrics, {
    description: 'The current nodes, then former ones of the period',
  })
  nodes: NodeMetrics[];
}
