import { ForeignKey, Entity, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../platform/kernel/persistence/columns';

/**
 * Number of current files and directories of a workspace, and their total bytes; zero if there is no row. Triggers of
 * `workspace_files` maintain it, so every change of a file counts, even by a pod of the previous release.
 */
@Entity('workspace_file_totals')
export class WorkspaceFileTotals {
  @ForeignKey('Workspace', { name: 'fk_workspace_file_totals_workspace' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_workspace_file_totals' })
  workspace_id: number;
  @Col.bigint({ default: 0 }) files: number;
  @Col.bigint({ default: 0 }) directories: number;
  @Col.bigint({ default: 0 }) bytes: number;
}
