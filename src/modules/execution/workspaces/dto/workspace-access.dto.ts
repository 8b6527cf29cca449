import { WORKSPACE_PERMISSIONS } from '../../../../platform/kernel/auth/roles';
import { ReadAudit, Validity, WriteAudit } from '../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../platform/kernel/dto/schemas';
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
  @Param.text({ optional: false, description: 'Part of the user name, ignoring case' }) username: string;
}

export class WorkspaceGroupQuery extends PageQuery {
  @Param.id({ description: 'Only groups that this user is a member of' }) user_id?: number;
}

export class WorkspaceGroupSearchQuery extends WorkspaceGroupQuery {
  @Param.text({ optional: false, description: 'Part of the group name, ignoring case' }) groupname: string;
}

export class WorkspaceAccessQuery extends PageQuery {
  @Param.id(OF_PERMISSION) permission_id?: number;
}

export class WorkspaceUserAccessSearchQuery extends WorkspaceAccessQuery {
  @Param.text({ optional: false, description: 'Part of the user name, ignoring case' }) username: string;
}

export class WorkspaceGroupAccessSearchQuery extends WorkspaceAccessQuery {
  @Param.text({ optional: false, description: 'Part of the group name, ignoring case' }) groupname: string;
}

/** A permission from the built-in lookup. */
const LOOKUP = { description: 'GET /workspace/permissions lists them' };

@Example({ user_id: 2, permission_id: 1 })
@About('A user and the permission to assign.')
export class AssignUserPermission {
  @Field.id() user_id: number;
  @Field.id(LOOKUP) permission_id: number;
}

@Example({ group_id: 1, permission_id: 0 })
@About('A group and the permission to assign.')
export class AssignGroupPermission {
  @Field.id() group_id: number;
  @Field.id(LOOKUP) permission_id: number;
}

@About('A permission on workspaces. Each includes those before it: VIEW, RUN, EDIT, MANAGE.')
export class WorkspacePermissionRead extends Validity {
  @Field.id() permission_id: number;
  @Field.oneOf(WORKSPACE_PERMISSIONS, { description: 'Name of the permission' }) name: string;
  @Field.text() description: string;
}

class PermissionHolders {
  @Field.id() permission_id: number;
  @Field.oneOf(WORKSPACE_PERMISSIONS, { description: 'Name of the permission' }) name: string;
  @Field.text() description: string;
}

@About('A permission with the users who hold it.')
class PermissionWithUsers extends PermissionHolders {
  @Field.objects(() => UserRead, { description: 'The users whose strongest permission this is' }) users: UserRead[];
}

@About('A permission with the groups that hold it.')
class PermissionWithGroups extends PermissionHolders {
  @Field.objects(() => GroupRead, { description: 'The groups whose permission this is' }) groups: GroupRead[];
}

class WorkspaceHolders {
  @Field.id() workspace_id: number;
  @Field.text() workspace_name: string;
  @Field.text({ nullable: true }) description: string | null;
}

@About('A workspace with the users who hold a permission on it.')
class WorkspaceUsers extends WorkspaceHolders {
  @Field.objectOrList(() => PermissionWithUsers, {
    description: 'The permission that the request names, or else a list with one object per permission',
  })
  permission: PermissionWithUsers | PermissionWithUsers[];
}

@About('A workspace with the groups that hold a permission on it.')
class WorkspaceGroups extends WorkspaceHolders {
  @Field.objectOrList(() => PermissionWithGroups, {
    description: 'The permission that the request names, or else a list with one object per permission',
  })
  permission: PermissionWithGroups | PermissionWithGroups[];
}

/** The holders of one permission if the request names one, otherwise a list with one object per permission. */
@About('A page of the users who hold a permission on a workspace.')
export class WorkspaceUsersPage {
  @Field.object(() => WorkspaceUsers, { description: 'The workspace with the users of this page' })
  data: WorkspaceUsers;
  @Field.object(() => ResultSet) result_set: ResultSet;
}

/** The same as {@link WorkspaceUsersPage} for groups. */
@About('A page of the groups that hold a permission on a workspace.')
export class WorkspaceGroupsPage {
  @Field.object(() => WorkspaceGroups, { description: 'The workspace with the groups of this page' })
  data: WorkspaceGroups;
  @Field.object(() => ResultSet) result_set: ResultSet;
}

@About('A reference to a permission.')
class PermissionRef {
  @Field.id({ description: 'Id of the permission' }) auth_workspace_perm_id: number;
  @Field.oneOf(WORKSPACE_PERMISSIONS, { description: 'Name of the permission' }) name: string;
  @Field.text() description: string;
}

@About('A permission that a user holds directly.')
class UserPermissionEntry extends ReadAudit {
  @Field.id({ description: 'Id of the assignment' }) auth_workspace_user_id: number;
  @Field.object(() => PermissionRef, { description: 'The permission' }) permission: PermissionRef;
}

@About('A permission that a group holds.')
class GroupPermissionEntry extends ReadAudit {
  @Field.id({ description: 'Id of the assignment' }) auth_workspace_group_id: number;
  @Field.id() group_id: number;
  @Field.text() group_name: string;
  @Field.object(() => PermissionRef, { description: 'The permission' }) permission: PermissionRef;
}

/** The permissions of a user on a workspace. `group_permission` has an entry for each group that grants one. */
@About('The permissions of a user on a workspace: the direct one, and those of groups.')
export class WorkspaceUserPermissionRead {
  @Field.id() user_id: number;
  @Field.text() username: string;
  @Field.object(() => WorkspaceRef) workspace: WorkspaceRef;
  @Field.uuid() tenant_id: string;
  @Field.object(() => PermissionRef, { description: 'The strongest of these permissions, which applies' })
  effective_permission: PermissionRef;
  @Field.object(() => UserPermissionEntry, {
    nullable: true,
    description: 'The permission that the user holds directly; null if there is none',
  })
  user_permission: UserPermissionEntry | null;
  @Field.objects(() => GroupPermissionEntry, {
    nullable: true,
    description: 'The permissions of the groups of the user; null if no group has one',
  })
  group_permission: GroupPermissionEntry[] | null;
}

@About('The permission of a group on a workspace.')
export class WorkspaceGroupPermissionRead {
  @Field.id() group_id: number;
  @Field.text() group_name: string;
  @Field.object(() => WorkspaceRef) workspace: WorkspaceRef;
  @Field.uuid() tenant_id: string;
  @Field.object(() => GroupPermissionEntry, { description: 'The permission of the group' })
  group_permission: GroupPermissionEntry;
}

class PermissionWrite extends WriteAudit {
  @Field.idText() workspace_id: string;
  @Field.idText({ description: 'Id of the permission' }) auth_workspace_perm_id: string;
  @Field.uuid() tenant_id: string;
}

@About('The permission that a user has been assigned. Ids are decimal strings.')
export class WorkspaceUserPermissionWrite extends PermissionWrite {
  @Field.idText({ description: 'Id of the assignment' }) auth_workspace_user_id: string;
  @Field.idText() user_id: string;
}

@About('The permission that a group has been assigned. Ids are decimal strings.')
export class WorkspaceGroupPermissionWrite extends PermissionWrite {
  @Field.idText({ description: 'Id of the assignment' }) auth_workspace_group_id: string;
  @Field.idText() group_id: string;
}
