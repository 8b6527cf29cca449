import { Entity, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';

/** A machine whose worker runs local nodes, as the worker last reported it. */
@Entity('local_hosts')
export class LocalHost {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_local_hosts' }) hostname: string;
  @Col.int() cores: number;
  /** Share of the processors' time between two reports, 0 to 1. */
  @Col.float() cpu_usage: number;
  @Col.bigint() memory_bytes: number;
  @Col.bigint() memory_used_bytes: number;
  /** Of the file system that the nodes' directories are on. */
  @Col.bigint() disk_bytes: number;
  @Col.bigint() disk_used_bytes: number;
  /** Whether jobs of its nodes are confined, so that it may have nodes of several tenants. */
  @Col.bool({ default: true }) keeps_tenants_apart: boolean;
  /** Versions of Spark that its nodes can have; null if its worker does not tell. */
  @Col.texts({ nullable: true }) spark_versions: string[] | null;
  @Col.time({ default: () => 'platform_now()' }) reported_at: Date;
}
