import { Check, Entity, ForeignKey, Index, Unique } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';

/** What a notebook was at some time, without its outputs. Never changes. */
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
  /** Of the document's text, in hex. */
  @Col.text() sha256: string;
  /** Of that text. */
  @Col.bigint() size_bytes: number;
  /** JSON as text, since jsonb knows no NUL and gives keys another order; null if it lies in the blob store. */
  @Col.text({ nullable: true }) document: string | null;
  /** Whether a run names it. */
  @Col.bool({ default: false }) is_kept: boolean;
}
