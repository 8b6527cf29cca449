import { Entity, PrimaryColumn } from 'typeorm';
import { Col } from '../../../platform/persistence/columns';

/** A machine whose worker runs local nodes, as the worker last reported it. */
@Entity('local_hosts')
export class LocalHost {
  @PrimaryColumn({ name: 'hostname', type: 'text', primaryKeyConstraintName: 'pk_local_hosts' }) hostname: string;
  @Col.int('cores') cores: number;
  /** Share of the processors' time between two reports, 0 to 1. */
  @Col.float('cpu_usage') cpuUsage: number;
  @Col.bigint('memory_bytes') memoryBytes: string;
  @Col.bigint('memory_used_bytes') memoryUsedBytes: string;
  /** Of the file system that the nodes' directories are on. */
  @Col.bigint('disk_bytes') diskBytes: string;
  @Col.bigint('disk_used_bytes') diskUsedBytes: string;
  /** Whether jobs of its nodes are confined, so that nodes of several tenants may be there. */
  @Col.bool('keeps_tenants_apart', { default: true }) keepsTenantsApart: boolean;
  @Col.time('reported_at', { default: () => 'now()' }) reportedAt: Date;
}
