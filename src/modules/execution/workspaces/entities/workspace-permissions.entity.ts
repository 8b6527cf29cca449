import { ForeignKey, Entity, Index, PrimaryColumn } from 'typeorm';
import { Col, CURRENT, TenantColumns, ValidityColumns } from '../../../../platform/kernel/persistence/columns';
import { KeepsInUse } from '../../../../platform/http/resources/record-kind';

/** VIEW, RUN, EDIT, MANAGE; each includes the ones before it. */
@Entity('workspace_permissions')
export class WorkspacePermissionRecord extends ValidityColumns {
  @PrimaryColumn({ type: 'integer' }) permission_id: number;
  @Col.text() name: string;
  @Col.text() description: string;
}

@Entity('workspace_users')
@Index('uq_workspace_users_current', ['workspace_id', 'user_id'], { unique: true, where: CURRENT })
@Index('ix_workspace_users_user', ['user_id', 'tenant_id'], { where: CURRENT })
@ForeignKey('Workspace', ['tenant_id', 'workspace_id'], ['tenant_id', 'workspace_id'], {
  name: 'fk_workspace_users_workspace',
})
export class WorkspaceUser extends TenantColumns {
  @Col.identity() auth_workspace_user_id: number;
  @Col.bigint() workspace_id: number;
  @ForeignKey('User', { name: 'fk_workspace_users_user' })
  @Col.bigint()
  user_id: number;
  @ForeignKey(() => WorkspacePermissionRecord, { name: 'fk_workspace_users_permission' })
  @Col.int()
  permission_id: number;
}

@Entity('workspace_groups')
@Index('uq_workspace_groups_current', ['workspace_id', 'group_id'], { unique: true, where: CURRENT })
@Index('ix_workspace_groups_group', ['group_id', 'tenant_id'], { where: CURRENT })
@ForeignKey('Workspace', ['tenant_id', 'workspace_id'], ['tenant_id', 'workspace_id'], {
  name: 'fk_workspace_groups_workspace',
})
@KeepsInUse({
  kept: 'Group',
  column: 'group_id',
  condition: `t.to_date = 'infinity'`,
  joins: 'JOIN workspaces w ON w.workspace_id = t.workspace_id',
  columns: 'w.workspace_id, w.name',
  code: 'GROUP.IN_USE',
  named: ({ name }) => `"${String(name)}"`,
  message: (names) => `The group holds a permission on the workspaces ${names}. Revoke it there first.`,
  details: (workspaces) => ({ workspaces }),
})
export class WorkspaceGroup extends TenantColumns {
  @Col.identity() auth_workspace_group_id: number;
  @Col.bigint() workspace_id: number;
  @ForeignKey('Group', { name: 'fk_workspace_groups_group' })
  @Col.bigint()
  group_id: number;
  @ForeignKey(() => WorkspacePermissionRecord, { name: 'fk_workspace_groups_permission' })
  @Col.int()
  permission_id: number;
}
