import type { NodeRole } from '../../../../../../libs/contracts/agent-protocol';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { NODE_STATUSES } from '../../model/cluster-state';

const PERIODS = ['hour', 'day'] as const;
const ROLES = ['single', 'master', 'worker', 'master-and-workers'] as const satisfies readonly NodeRole[];

export class ClusterMetricsQuery {
  @Param.oneOf(PERIODS, {
    default: 'hour',
    description: 'The last hour by minutes, or the last day by quarters of hours',
  })
  period: (typeof PERIODS)[number] = 'hour';
  @Param.int32({ min: 0 }) node_number?: number;
}

export class ResourceUse {
  @Field.number({ description: 'Average during the step' }) used: number;
  @Field.number({ description: 'Largest during the step' }) used_max: number;
  @Field.number({ description: 'What the node has besides `used`' }) free: number;
}

export class NodeMetricsPoint {
  @Field.timestamp({ description: 'When the step began' }) time: Date;
  @Field.object(() => ResourceUse) cores: ResourceUse;
  @Field.object(() => ResourceUse) memory_mb: ResourceUse;
  @Field.object(() => ResourceUse) disk_mb: ResourceUse;
  @Field.object(() => ResourceUse, { description: 'Jobs that the node runs, and could run besides' })
  slots: ResourceUse;
}

export class NodeMetrics {
  @Field.int64() node_number: number;
  @Field.oneOf(ROLES) role: string;
  @Field.oneOf(NODE_STATUSES) node_status: string;
  @Field.timestamp() from_date: Date;
  @Field.validityEnd() to_date: Date | 'infinity' | null;
  @Field.objects(() => NodeMetricsPoint, { description: 'By time; none for a step in which the node said nothing' })
  points: NodeMetricsPoint[];
}

export class ClusterMetrics {
  @Field.id() cluster_id: number;
  @Field.oneOf(PERIODS) period: string;
  @Field.int64() step_seconds: number;
  @Field.objects(() => NodeMetrics) nodes: NodeMetrics[];
}
