import { Entity, Index } from 'typeorm';
import { Col } from '../../../../platform/kernel/persistence/columns';
import { SummedColumns } from './billed.columns';

const PRIMARY = { primary: true, primaryKeyConstraintName: 'pk_usage_groups' };

/** First and last day in `usage_days` of one cluster, machine type and labels. */
@Entity('usage_groups')
@Index('ix_usage_groups_tenant', ['tenant_id'])
export class UsageGroup extends SummedColumns {
  @Col.bigint(PRIMARY) cluster_id: number;
  @Col.uuid(PRIMARY) tenant_id: string;
  @Col.int(PRIMARY) machine_type_id: number;
  @Col.uuid(PRIMARY) labels_key: string;
  @Col.day() first_date: string;
  @Col.day() last_date: string;
}
