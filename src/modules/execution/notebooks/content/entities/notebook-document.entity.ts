import { Check, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';

/** The notebook of a configuration: its file in the workspace and its current revision. */
@Entity('notebook_documents')
@Index('uq_notebook_documents_file', ['workspace_file_id'], { unique: true })
@Check('ck_notebook_documents_bytes', 'output_bytes >= 0')
@ForeignKey('RunConfiguration', ['tenant_id', 'job_conf_id'], ['tenant_id', 'job_conf_id'], {
  name: 'fk_notebook_documents_job_conf',
})
@ForeignKey('WorkspaceFile', ['tenant_id', 'workspace_file_id'], ['tenant_id', 'workspace_file_id'], {
  name: 'fk_notebook_documents_file',
})
@ForeignKey('NotebookRevision', ['tenant_id', 'notebook_revision_id'], ['tenant_id', 'notebook_revision_id'], {
  name: 'fk_notebook_documents_revision',
})
export class NotebookDocumentRow {
  @PrimaryColumn({ type: 'bigint' }) job_conf_id: number;
  @Col.uuid() tenant_id: string;
  @Col.bigint() workspace_file_id: number;
  @Col.bigint() notebook_revision_id: number;
  @Col.bigint({ default: 0 }) output_bytes: number;
}
