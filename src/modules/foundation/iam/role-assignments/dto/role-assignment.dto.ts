import { ROLES } from '../../../../../platform/kernel/auth/roles';
import { WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { PageQuery, ResultSet } from '../../../../../platform/kernel/dto/page';
import { GroupRead, UserRead } from '../../users-and-groups/dto/directory.dto';

export class TenantUserSearchQuery extends PageQuery {
  @Param.text({ optional: false, description: 'Part of the user name, case-insensitive' }) username: string;
}

export class TenantGroupSearchQuery extends PageQuery {
  @Param.text({ optional: false, description: 'Part of the group name, case-insensitive' }) groupname: string;
}

export class UserRoles {
  @Field.id() user_id: number;
  @Field.text() username: string;
  @Param.someOf(ROLES, { optional: false }) user_roles: string[];
  @Param.someOf(ROLES, { optional: false }) group_roles: string[];
}

export class GroupRoles {
  @Field.id() group_id: number;
  @Field.text() group_name: string;
  @Param.someOf(ROLES, { optional: false }) roles: string[];
}

class RoleUsers {
  @Field.id() role_id: number;
  @Field.oneOf(ROLES) role: string;
  @Field.text() description: string;
  @Field.objects(() => UserRead) users: UserRead[];
}

export class RoleUsersPage {
  @Field.object(() => RoleUsers) data: RoleUsers;
  @Field.object(() => ResultSet) result_set: ResultSet;
}

class RoleGroups {
  @Field.id() role_id: number;
  @Field.oneOf(ROLES) role: string;
  @Field.text() description: string;
  @Field.objects(() => GroupRead) groups: GroupRead[];
}

export class RoleGroupsPage {
  @Field.object(() => RoleGroups) data: RoleGroups;
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

export class UserRoleWrite extends WriteAudit {
  @Field.idText() user_roles_id: string;
  @Field.uuid({ nullable: true }) tenant_id: string | null;
  @Field.idText() user_id: string;
  @Field.idText() role_id: string;
}

export class GroupRoleWrite extends WriteAudit {
  @Field.idText() group_roles_id: string;
  @Field.uuid({ nullable: true }) tenant_id: string | null;
  @Field.idText() group_id: string;
  @Field.idText() role_id: string;
}
