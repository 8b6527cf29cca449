import { Check, Entity, Index, JoinColumn, ManyToOne, Unique } from 'typeorm';
import { Col, CURRENT, PartOfNameIndex, TenantColumns } from '../../../platform/persistence/columns';

/** A file or directory of a workspace; the bytes are in the blob store under `blob_key`. */
@Entity('workspace_files')
@Unique('uq_workspace_files_tenant_id', ['tenantId', 'workspaceFileId'])
@Index('uq_workspace_files_path', ['workspaceId', 'path'], { unique: true, where: CURRENT })
@PartOfNameIndex('ix_workspace_files_name_part', 'name', { where: CURRENT })
@Index('ix_workspace_files_directory', ['workspaceId', 'parentPath', 'workspaceFileId'], { where: CURRENT })
@Index('ix_workspace_files_blob', ['blobKey'])
@Check('ck_workspace_files_kind', 'is_dir = (blob_key IS NULL)')
export class WorkspaceFile extends TenantColumns {
  @Col.identity('workspace_file_id') workspaceFileId: string;
  @Col.bigint('workspace_id') workspaceId: string;
  @ManyToOne('Workspace')
  @JoinColumn([
    { name: 'tenant_id', referencedColumnName: 'tenantId', foreignKeyConstraintName: 'fk_workspace_files_workspace' },
    {
      name: 'workspace_id',
      referencedColumnName: 'workspaceId',
      foreignKeyConstraintName: 'fk_workspace_files_workspace',
    },
  ])
  workspace: unknown;
  /** Without leading slash; parts joined by one slash. */
  @Col.text('path') path: string;
  /** Empty for what lies at the root. */
  @Col.text('parent_path') parentPath: string;
  @Col.text('name') name: string;
  @Col.bool('is_dir') isDir: boolean;
  @Col.bigint('size_bytes', { nullable: true }) sizeBytes: string | null;
  @Col.text('sha256', { nullable: true }) sha256: string | null;
  @Col.text('blob_key', { nullable: true }) blobKey: string | null;
}
