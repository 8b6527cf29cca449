import { Entity, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';

/** The last report of a machine whose worker runs local nodes. */
@Entity('local_hosts')
export class LocalHost {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_local_hosts' }) hostname: string;
  @Col.int() cores: number;
  /** CPU usage between the last two reports, 0 to 1. */
  @Col.float() cpu_usage: number;
  @Col.bigint() memory_bytes: number;
  @Col.bigint() memory_used_bytes: number;
  /** Size of the file system with the nodes' directories. */
  @Col.bigint() disk_bytes: number;
  @Col.bigint() disk_used_bytes: number;
  /** True if jobs of its nodes are confined, so that it may run nodes of several tenants. */
  @Col.bool({ default: true }) keeps_tenants_apart: boolean;
  /** Spark versions that its nodes can run; null if its worker does not report them. */
  @Col.texts({ nullable: true }) spark_versions: string[] | null;
  @Col.time({ default: () => 'platform_now()' }) reported_at: Date;
}
