import { ROLES } from '../../../../../platform/kernel/auth/roles';
import { WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About } from '../../../../../platform/kernel/dto/schemas';
import { PageQuery, ResultSet } from '../../../../../platform/kernel/dto/page';
import { GroupRead, UserRead } from '../../users-and-groups/dto/directory.dto';

export class TenantUserSearchQuery extends PageQuery {
  @Param.text({ optional: false, description: 'Part of the user name, ignoring case' }) username: string;
}

export class TenantGroupSearchQuery extends PageQuery {
  @Param.text({ optional: false, description: 'Part of the group name, ignoring case' }) groupname: string;
}

@About('The roles of a user in a tenant.')
export class UserRoles {
  @Field.id() user_id: number;
  @Field.text() username: string;
  @Param.someOf(ROLES, { optional: false, description: 'Roles that the user holds directly' }) user_roles: string[];
  @Param.someOf(ROLES, { optional: false, description: 'Roles that the user holds through groups' })
  group_roles: string[];
}

@About('The roles of a group in a tenant.')
export class GroupRoles {
  @Field.id() group_id: number;
  @Field.text() group_name: string;
  @Param.someOf(ROLES, { optional: false, description: 'Roles that the group holds' }) roles: string[];
}

@About('A role with the users who hold it.')
class RoleUsers {
  @Field.id() role_id: number;
  @Field.oneOf(ROLES, { description: 'Name of the role' }) role: string;
  @Field.text() description: string;
  @Field.objects(() => UserRead, { description: 'Users who hold the role, directly or through a group' })
  users: UserRead[];
}

@About('A page of the users who hold a role.')
export class RoleUsersPage {
  @Field.object(() => RoleUsers, { description: 'The role with the users of this page' }) data: RoleUsers;
  @Field.object(() => ResultSet) result_set: ResultSet;
}

@About('A role with the groups that hold it.')
class RoleGroups {
  @Field.id() role_id: number;
  @Field.oneOf(ROLES, { description: 'Name of the role' }) role: string;
  @Field.text() description: string;
  @Field.objects(() => GroupRead, { description: 'Groups that hold the role' }) groups: GroupRead[];
}

@About('A page of the groups that hold a role.')
export class RoleGroupsPage {
  @Field.object(() => RoleGroups, { description: 'The role with the groups of this page' }) data: RoleGroups;
  @Field.object(() => ResultSet) result_set: ResultSet;
}

/** Selects the scope of a role: a tenant, or platform-wide if `tenant_id` is absent. */
export class RoleScopeQuery {
  @Param.uuid({ description: 'Required for ADMIN, CAN MANAGE CLUSTER and USER; absent for the platform-wide roles' })
  tenant_id?: string;

  scope(): { kind: 'named'; tenantId: string | null } {
    return { kind: 'named', tenantId: this.tenant_id ?? null };
  }
}

@About('The role that a user has been granted. Ids are decimal strings.')
export class UserRoleWrite extends WriteAudit {
  @Field.idText({ description: 'Id of the grant' }) user_roles_id: string;
  @Field.uuid({ nullable: true, description: 'The tenant in which the role applies; null for a platform-wide role' })
  tenant_id: string | null;
  @Field.idText() user_id: string;
  @Field.idText() role_id: string;
}

@About('The role that a group has been granted. Ids are decimal strings.')
export class GroupRoleWrite extends WriteAudit {
  @Field.idText({ description: 'Id of the grant' }) group_roles_id: string;
  @Field.uuid({ nullable: true, description: 'The tenant in which the role applies; null for a platform-wide role' })
  tenant_id: string | null;
  @Field.idText() group_id: string;
  @Field.idText() role_id: string;
}
