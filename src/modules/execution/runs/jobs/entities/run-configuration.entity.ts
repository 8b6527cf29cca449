import { ForeignKey, Check, Entity, Index, Unique } from 'typeorm';
import {
  Col,
  CURRENT,
  ListIndex,
  oneOf,
  PartOfNameIndex,
  TenantColumns,
} from '../../../../../platform/kernel/persistence/columns';
import { RecordKind } from '../../../../../platform/http/resources/record-kind';
import type { JobSettings } from '../dto/job-conf.dto';
import { RUN_RESOURCES, type RunResource, type NotebookLanguage, type JobLanguage } from '../job-types';

const NOT_DELETED = 'deleted_at IS NULL';

/** A job or notebook configuration of a workspace. `to_date` is set while it is disabled, and after it was deleted. */
@Entity('job_confs')
@Unique('uq_job_confs_tenant_id', ['tenant_id', 'job_conf_id'])
@Index('uq_job_confs_name', ['workspace_id', 'kind', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_job_confs_list', ['tenant_id', 'workspace_id', 'kind', 'job_conf_id', 'name'], { where: NOT_DELETED })
@PartOfNameIndex('ix_job_confs_name_part', 'name', { where: NOT_DELETED })
@Index('ix_job_confs_cluster', ['tenant_id', 'cluster_id'])
@Check('ck_job_confs_kind', oneOf('kind', RUN_RESOURCES))
@Check('ck_job_confs_concurrency', 'max_concurrency >= 0')
@Check('ck_job_confs_unfinished', 'unfinished_runs >= 0 AND (unfinished_runs IS NULL) = (max_concurrency = 0)')
@Check('ck_job_confs_deleted', `deleted_at IS NULL OR to_date <> 'infinity'`)
@ForeignKey('Workspace', ['tenant_id', 'workspace_id'], ['tenant_id', 'workspace_id'], {
  name: 'fk_job_confs_workspace',
})
@ForeignKey('Cluster', ['tenant_id', 'cluster_id'], ['tenant_id', 'cluster_id'], { name: 'fk_job_confs_cluster' })
@RecordKind({ code: 'JOB_CONF', label: 'job configuration' })
export class RunConfiguration extends TenantColumns {
  @Col.identity() job_conf_id: number;
  @Col.bigint() workspace_id: number;
  @Col.bigint() cluster_id: number;
  @Col.text({ default: 'job' }) kind: RunResource;
  @Col.text() name: string;
  @Col.text() job_type: string;
  @Col.text() language: JobLanguage | NotebookLanguage;
  /** Maximum number of unfinished runs; 0 means no limit. */
  @Col.bigint() max_concurrency: number;
  /** Number of unfinished runs. Null without a limit, so that its runs do not contend for this row's lock. */
  @Col.bigint({ nullable: true }) unfinished_runs: number | null;
  /** A deleted configuration is no longer found, but its runs stay readable. */
  @Col.time({ nullable: true }) deleted_at: Date | null;
  @Col.json() settings: Required<JobSettings>;
}
