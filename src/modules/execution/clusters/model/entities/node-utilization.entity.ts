import { Entity, ForeignKey, Index } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';
import { ClusterNode } from './cluster-node.entity';

const PRIMARY = { primary: true, primaryKeyConstraintName: 'pk_node_utilization' };

/**
 * The resources that a node used during a step. A node has as many rows of each step length as are shown: a new step
 * overwrites the oldest one.
 */
@Entity('node_utilization')
@Index('ix_node_utilization_time', ['time'])
export class NodeUtilizationStep {
  @ForeignKey(() => ClusterNode, { name: 'fk_node_utilization_node' })
  @Col.bigint(PRIMARY)
  node_id: number;
  @Col.int(PRIMARY) step_seconds: number;
  /** The number of the step since 1970, modulo the number of kept steps. */
  @Col.int(PRIMARY) place: number;
  @Col.time() time: Date;
  /** Number of the node's reports in the sums. */
  @Col.int() reports: number;
  @Col.bigint() millicores_sum: number;
  @Col.int() millicores_max: number;
  @Col.bigint() memory_mb_sum: number;
  @Col.int() memory_mb_max: number;
  @Col.bigint() disk_mb_sum: number;
  @Col.int() disk_mb_max: number;
  /** Value at the last report, like the slots. */
  @Col.int() disk_mb: number;
  @Col.bigint() busy_slots_sum: number;
  @Col.int() busy_slots_max: number;
  @Col.int() slots: number;
}
