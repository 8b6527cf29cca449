import { WORKSPACE_PERMISSIONS } from '../../../../platform/kernel/auth/roles';
import { ReadAudit, Validity, WriteAudit } from '../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../platform/kernel/dto/fields';
import { Example } from '../../../../platform/kernel/dto/schemas';
import { PageQuery, ResultSet } from '../../../../platform/kernel/dto/page';
import { GroupRead, UserRead } from '../../../foundation/iam';
import { WorkspaceRef } from './workspace.dto';

const OF_PERMISSION = {
  description: 'Only holders whose strongest permission is this one; the response then has one object',
};

export class WorkspaceUserQuery extends PageQuery {
  @Param.id({ description: 'Only members of this group' }) group_id?: number;
}

export class WorkspaceUserSearchQuery extends WorkspaceUserQuery {
  @Param.text({ optional: false, description: 'Part of the user name, case-insensitive' }) username: string;
}

export class WorkspaceGroupQuery extends PageQuery {
  @Param.id({ description: 'Only groups that this user is a member of' }) user_id?: number;
}

export class WorkspaceGroupSearchQuery extends WorkspaceGroupQuery {
  @Param.text({ optional: false, description: 'Part of the group name, case-insensitive' }) groupname: string;
}

export class WorkspaceAccessQuery extends PageQuery {
  @Param.id(OF_PERMISSION) permission_id?: number;
}

export class WorkspaceUserAccessSearchQuery extends WorkspaceAccessQuery {
  @Param.text({ optional: false, description: 'Part of the user name, case-insensitive' }) username: string;
}

export class WorkspaceGroupAccessSearchQuery extends WorkspaceAccessQuery {
  @Param.text({ optional: false, description: 'Part of the group name, case-insensitive' }) groupname: string;
}

/** A permission from the built-in lookup. */
const LOOKUP = { description: 'GET /workspace/permissions lists them' };

@Example({ user_id: 2, permission_id: 1 })
export class AssignUserPermission {
  @Field.id() user_id: number;
  @Field.id(LOOKUP) permission_id: number;
}

@Example({ group_id: 1, permission_id: 0 })
export class AssignGroupPermission {
  @Field.id() group_id: number;
  @Field.id(LOOKUP) permission_id: number;
}

export class WorkspacePermissionRead extends Validity {
  @Field.id() permission_id: number;
  @Field.oneOf(WORKSPACE_PERMISSIONS) name: string;
  @Field.text() description: string;
}

class PermissionHolders {
  @Field.id() permission_id: number;
  @Field.oneOf(WORKSPACE_PERMISSIONS) name: string;
  @Field.text() description: string;
}

class PermissionWithUsers extends PermissionHolders {
  @Field.objects(() => UserRead) users: UserRead[];
}

class PermissionWithGroups extends PermissionHolders {
  @Field.objects(() => GroupRead) groups: GroupRead[];
}

class WorkspaceHolders {
  @Field.id() workspace_id: number;
  @Field.text() workspace_name: string;
  @Field.text({ nullable: true }) description: string | null;
}

class WorkspaceUsers extends WorkspaceHolders {
  @Field.objectOrList(() => PermissionWithUsers) permission: PermissionWithUsers | PermissionWithUsers[];
}

class WorkspaceGroups extends WorkspaceHolders {
  @Field.objectOrList(() => PermissionWithGroups) permission: PermissionWithGroups | PermissionWithGroups[];
}

/** The holders of one permission if the request names one, otherwise a list with one object per permission. */
export class WorkspaceUsersPage {
  @Field.object(() => WorkspaceUsers) data: WorkspaceUsers;
  @Field.object(() => ResultSet) result_set: ResultSet;
}

/** The same as {@link WorkspaceUsersPage} for groups. */
export class WorkspaceGroupsPage {
  @Field.object(() => WorkspaceGroups) data: WorkspaceGroups;
  @Field.object(() => ResultSet) result_set: ResultSet;
}

class PermissionRef {
  @Field.id() auth_workspace_perm_id: number;
  @Field.oneOf(WORKSPACE_PERMISSIONS) name: string;
  @Field.text() description: string;
}

class UserPermissionEntry extends ReadAudit {
  @Field.id() auth_workspace_user_id: number;
  @Field.object(() => PermissionRef) permission: PermissionRef;
}

class GroupPermissionEntry extends ReadAudit {
  @Field.id() auth_workspace_group_id: number;
  @Field.id() group_id: number;
  @Field.text() group_name: string;
  @Field.object(() => PermissionRef) permission: PermissionRef;
}

/** The permissions of a user on a workspace. `group_permission` has an entry for each group that grants one. */
export class WorkspaceUserPermissionRead {
  @Field.id() user_id: number;
  @Field.text() username: string;
  @Field.object(() => WorkspaceRef) workspace: WorkspaceRef;
  @Field.uuid() tenant_id: string;
  @Field.object(() => PermissionRef, { description: 'The strongest of these permissions, which applies' })
  effective_permission: PermissionRef;
  @Field.object(() => UserPermissionEntry, { nullable: true }) user_permission: UserPermissionEntry | null;
  @Field.objects(() => GroupPermissionEntry, { nullable: true }) group_permission: GroupPermissionEntry[] | null;
}

export class WorkspaceGroupPermissionRead {
  @Field.id() group_id: number;
  @Field.text() group_name: string;
  @Field.object(() => WorkspaceRef) workspace: WorkspaceRef;
  @Field.uuid() tenant_id: string;
  @Field.object(() => GroupPermissionEntry) group_permission: GroupPermissionEntry;
}

class PermissionWrite extends WriteAudit {
  @Field.idText() workspace_id: string;
  @Field.idText() auth_workspace_perm_id: string;
  @Field.uuid() tenant_id: string;
}

export class WorkspaceUserPermissionWrite extends PermissionWrite {
  @Field.idText() auth_workspace_user_id: string;
  @Field.idText() user_id: string;
}

export class WorkspaceGroupPermissionWrite extends PermissionWrite {
  @Field.idText() auth_workspace_group_id: string;
  @Field.idText() group_id: string;
}
