import { Check, Entity, ForeignKey, Index } from 'typeorm';
import { Col } from '../../../kernel/persistence/columns';

/** Columns of the subjects of workflows, by kind. A new kind needs an entry here, a column and a foreign key. */
export const SUBJECT_COLUMNS = { cluster: 'cluster_id' } as const;

export type SubjectKind = keyof typeof SUBJECT_COLUMNS;

/** A requested workflow: its type, subject and author. */
@Entity('workflow_jobs')
@Index('ix_workflow_jobs_cluster', ['cluster_id'])
@Check('ck_workflow_jobs_subject', `num_nonnulls(${Object.values(SUBJECT_COLUMNS).join(', ')}) = 1`)
@ForeignKey('Cluster', ['tenant_id', 'cluster_id'], ['tenant_id', 'cluster_id'], { name: 'fk_workflow_jobs_cluster' })
export class WorkflowJob implements Record<(typeof SUBJECT_COLUMNS)[SubjectKind], number | null> {
  @Col.identity() workflow_job_id: number;
  @Col.int() workflow_type_id: number;
  @Col.uuid() tenant_id: string;
  @Col.bigint({ nullable: true }) cluster_id: number | null;
  @Col.bigint({ nullable: true }) created_by_user_id: number | null;
  @Col.time({ default: () => 'platform_now()' }) created_at: Date;
}
