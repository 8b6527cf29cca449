import { Check, Entity, Index, JoinColumn, ManyToOne, Unique } from 'typeorm';
import { Col, CURRENT, ListIndex, PartOfNameIndex, TenantColumns } from '../../../platform/persistence/columns';

/** A Spark job configuration of a workspace. `to_date` is set while it is disabled. */
@Entity('job_confs')
@Unique('uq_job_confs_tenant_id', ['tenantId', 'jobConfId'])
@Index('uq_job_confs_name', ['workspaceId', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_job_confs_list', ['tenantId', 'workspaceId', 'jobConfId', 'name'])
@PartOfNameIndex('ix_job_confs_name_part', 'name')
@Index('ix_job_confs_cluster', ['tenantId', 'clusterId'])
@Check('ck_job_confs_concurrency', 'max_concurrency >= 0')
export class JobConf extends TenantColumns {
  @Col.identity('job_conf_id') jobConfId: string;
  @Col.bigint('workspace_id') workspaceId: string;
  @ManyToOne('Workspace')
  @JoinColumn([
    { name: 'tenant_id', referencedColumnName: 'tenantId', foreignKeyConstraintName: 'fk_job_confs_workspace' },
    { name: 'workspace_id', referencedColumnName: 'workspaceId', foreignKeyConstraintName: 'fk_job_confs_workspace' },
  ])
  workspace: unknown;
  @Col.bigint('cluster_id') clusterId: string;
  @ManyToOne('Cluster')
  @JoinColumn([
    { name: 'tenant_id', referencedColumnName: 'tenantId', foreignKeyConstraintName: 'fk_job_confs_cluster' },
    { name: 'cluster_id', referencedColumnName: 'clusterId', foreignKeyConstraintName: 'fk_job_confs_cluster' },
  ])
  cluster: unknown;
  @Col.text('name') name: string;
  @Col.text('job_type') jobType: string;
  @Col.text('language') language: string;
  /** Runs of it at once; 0 is no limit. */
  @Col.bigint('max_concurrency') maxConcurrency: string;
  /** The settings as the contract names them. */
  @Col.json('settings') settings: unknown;
}
