import { Entity, ForeignKey, Index } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';
import { ClusterNode } from './cluster-node.entity';

const PRIMARY = { primary: true, primaryKeyConstraintName: 'pk_node_utilization' };

/**
 * What a node used during a step, of what it has. A node has as many rows of each length of step as are shown: a step takes
 * the place of the one so long before it.
 */
@Entity('node_utilization')
@Index('ix_node_utilization_time', ['time'])
export class NodeUtilizationStep {
  @ForeignKey(() => ClusterNode, { name: 'fk_node_utilization_node' })
  @Col.bigint(PRIMARY)
  node_id: number;
  @Col.int(PRIMARY) step_seconds: number;
  /** The number of the step since 1970, modulo how many are kept. */
  @Col.int(PRIMARY) place: number;
  /** When the step began. */
  @Col.time() time: Date;
  /** How many reports of the node the sums are of. */
  @Col.int() reports: number;
  @Col.bigint() millicores_sum: number;
  @Col.int() millicores_max: number;
  @Col.bigint() memory_mb_sum: number;
  @Col.int() memory_mb_max: number;
  @Col.bigint() disk_mb_sum: number;
  @Col.int() disk_mb_max: number;
  /** At the last report, as are the slots. */
  @Col.int() disk_mb: number;
  @Col.bigint() busy_slots_sum: number;
  @Col.int() busy_slots_max: number;
  @Col.int() slots: number;
}
