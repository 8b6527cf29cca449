import { Check, Entity, ForeignKey, Index, Unique } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';

/** An immutable version of a notebook, without outputs. */
@Entity('notebook_revisions')
@Unique('uq_notebook_revisions_tenant_id', ['tenant_id', 'notebook_revision_id'])
@Index('ix_notebook_revisions_unkept', ['job_conf_id', 'notebook_revision_id'], { where: 'NOT is_kept' })
@Index('ix_notebook_revisions_content', ['tenant_id', 'sha256'], { where: 'document IS NULL' })
@Check('ck_notebook_revisions_size', 'size_bytes >= 0')
@ForeignKey('RunConfiguration', ['tenant_id', 'job_conf_id'], ['tenant_id', 'job_conf_id'], {
  name: 'fk_notebook_revisions_job_conf',
})
export class NotebookRevision {
  @Col.identity() notebook_revision_id: number;
  @Col.uuid() tenant_id: string;
  @Col.bigint() job_conf_id: number;
  @Col.bigint({ nullable: true }) created_by_user_id: number | null;
  @Col.time({ default: () => 'platform_now()' }) created_at: Date;
  @Col.text() sha256: string;
  @Col.bigint() size_bytes: number;
  /** JSON as text, because jsonb rejects NUL and reorders keys. Null if it is in the blob store. */
  @Col.text({ nullable: true }) document: string | null;
  /** True if a run references it, so that it is not pruned. */
  @Col.bool({ default: false }) is_kept: boolean;
}
