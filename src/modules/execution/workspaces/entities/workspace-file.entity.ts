import { ForeignKey, Check, Entity, Index, Unique } from 'typeorm';
import { Col, CURRENT, PartOfNameIndex, TenantColumns } from '../../../../platform/kernel/persistence/columns';
import { RecordKind } from '../../../../platform/http/resources/record-kind';

/** A file or directory of a workspace; the bytes are in the blob store under `blob_key`. */
@Entity('workspace_files')
@Unique('uq_workspace_files_tenant_id', ['tenant_id', 'workspace_file_id'])
@Index('uq_workspace_files_path', ['workspace_id', 'path'], { unique: true, where: CURRENT })
@PartOfNameIndex('ix_workspace_files_name_part', 'name', { where: CURRENT })
@Index('ix_workspace_files_directory', ['workspace_id', 'parent_path', 'workspace_file_id'], { where: CURRENT })
@Index('ix_workspace_files_blob', ['blob_key'])
@Check('ck_workspace_files_kind', 'is_dir = (blob_key IS NULL)')
@ForeignKey('Workspace', ['tenant_id', 'workspace_id'], ['tenant_id', 'workspace_id'], {
  name: 'fk_workspace_files_workspace',
})
@RecordKind({ code: 'FILE', label: 'file' })
export class WorkspaceFile extends TenantColumns {
  @Col.identity() workspace_file_id: number;
  @Col.bigint() workspace_id: number;
  /** Without leading slash; parts joined by one slash. */
  @Col.text() path: string;
  /** Empty at the root. */
  @Col.text() parent_path: string;
  @Col.text() name: string;
  @Col.bool() is_dir: boolean;
  @Col.bigint({ nullable: true }) size_bytes: number | null;
  @Col.text({ nullable: true }) sha256: string | null;
  @Col.text({ nullable: true }) blob_key: string | null;
}
