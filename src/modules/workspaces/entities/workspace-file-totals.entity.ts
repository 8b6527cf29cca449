import { Entity, JoinColumn, OneToOne, PrimaryColumn } from 'typeorm';
import { Col } from '../../../platform/persistence/columns';

/**
 * How many current files and directories a workspace has, and their bytes together; none where there is no row. Triggers
 * of `workspace_files` keep it, so that it is right whatever changes a file, a pod of the release before included.
 */
@Entity('workspace_file_totals')
export class WorkspaceFileTotals {
  @PrimaryColumn({ name: 'workspace_id', type: 'bigint', primaryKeyConstraintName: 'pk_workspace_file_totals' })
  workspaceId: string;
  @OneToOne('Workspace')
  @JoinColumn({ name: 'workspace_id', foreignKeyConstraintName: 'fk_workspace_file_totals_workspace' })
  workspace: unknown;
  @Col.bigint('files', { default: 0 }) files: string;
  @Col.bigint('directories', { default: 0 }) directories: string;
  @Col.bigint('bytes', { default: 0 }) bytes: string;
}
