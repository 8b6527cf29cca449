import { Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { Col, CURRENT, TenantColumns, ValidityColumns } from '../../../platform/persistence/columns';

/** VIEW, RUN, EDIT, MANAGE; each includes the ones before it. */
@Entity('workspace_permissions')
export class WorkspacePermissionRecord extends ValidityColumns {
  @PrimaryColumn({ name: 'permission_id', type: 'integer' }) permissionId: number;
  @Col.text('name') name: string;
  @Col.text('description') description: string;
}

const workspaceKey = (constraint: string) => [
  { name: 'tenant_id', referencedColumnName: 'tenantId', foreignKeyConstraintName: constraint },
  { name: 'workspace_id', referencedColumnName: 'workspaceId', foreignKeyConstraintName: constraint },
];

@Entity('workspace_users')
@Index('uq_workspace_users_current', ['workspaceId', 'userId'], { unique: true, where: CURRENT })
@Index('ix_workspace_users_user', ['userId', 'tenantId'], { where: CURRENT })
export class WorkspaceUser extends TenantColumns {
  @Col.identity('auth_workspace_user_id') authWorkspaceUserId: string;
  @Col.bigint('workspace_id') workspaceId: string;
  @ManyToOne('Workspace')
  @JoinColumn(workspaceKey('fk_workspace_users_workspace'))
  workspace: unknown;
  @Col.bigint('user_id') userId: string;
  @ManyToOne('User')
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'fk_workspace_users_user' })
  user: unknown;
  @Col.int('permission_id') permissionId: number;
  @ManyToOne(() => WorkspacePermissionRecord)
  @JoinColumn({ name: 'permission_id', foreignKeyConstraintName: 'fk_workspace_users_permission' })
  permission: WorkspacePermissionRecord;
}

@Entity('workspace_groups')
@Index('uq_workspace_groups_current', ['workspaceId', 'groupId'], { unique: true, where: CURRENT })
@Index('ix_workspace_groups_group', ['groupId', 'tenantId'], { where: CURRENT })
export class WorkspaceGroup extends TenantColumns {
  @Col.identity('auth_workspace_group_id') authWorkspaceGroupId: string;
  @Col.bigint('workspace_id') workspaceId: string;
  @ManyToOne('Workspace')
  @JoinColumn(workspaceKey('fk_workspace_groups_workspace'))
  workspace: unknown;
  @Col.bigint('group_id') groupId: string;
  @ManyToOne('Group')
  @JoinColumn({ name: 'group_id', foreignKeyConstraintName: 'fk_workspace_groups_group' })
  group: unknown;
  @Col.int('permission_id') permissionId: number;
  @ManyToOne(() => WorkspacePermissionRecord)
  @JoinColumn({ name: 'permission_id', foreignKeyConstraintName: 'fk_workspace_groups_permission' })
  permission: WorkspacePermissionRecord;
}
