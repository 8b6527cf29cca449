import { Injectable } from '@nestjs/common';
import { addAuditSubject } from '../../../../platform/http/audit/audited-request';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import type { Role } from '../../../../platform/kernel/auth/roles';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { RolesRepository } from '../roles/roles.repository';
import { actingTenant } from './ownership';
import { DirectoryRepository } from './directory.repository';
import { assertRoleScope, scopeAtCreation, type RoleScope } from './role-scope';

/** A role with the tenant it applies to; null for a platform-wide role. */
export interface ScopedRole {
  roleId: number;
  role: Role;
  tenantId: string | null;
}

/** Resolves and validates the roles of grants. */
@Injectable()
export class RoleGrants {
  constructor(
    private readonly roles: RolesRepository,
    private readonly directory: DirectoryRepository,
  ) {}

  /** Throws unless role and scope exist and match. Locks the tenant, so that it cannot be deleted before `tx` ends. */
  async resolve(tx: Tx, roleId: number, scope: RoleScope): Promise<ScopedRole> {
    const { role } = await this.roles.get(roleId, tx);
    return this.scoped(tx, roleId, role, scope);
  }

  /**
   * Resolves the roles in a request that creates their holder, and adds them to the request's audit event. Locks the
   * owning tenant, so that it cannot be deleted before `tx` ends.
   */
  async resolveAtCreation(tx: Tx, caller: Principal, roleIds: readonly number[]): Promise<ScopedRole[]> {
    if (roleIds.length > 0) addAuditSubject('role_ids', roleIds.join(','));
    const owner = actingTenant(caller);
    if (owner !== null) await this.directory.lockTenant(tx, owner);
    const roles: ScopedRole[] = [];
    for (const roleId of roleIds) {
      const { role } = await this.roles.get(roleId, tx);
      roles.push(await this.scoped(tx, roleId, role, scopeAtCreation(caller, role)));
    }
    return roles;
  }

  private async scoped(tx: Tx, roleId: number, role: Role, scope: RoleScope): Promise<ScopedRole> {
    assertRoleScope(role, scope);
    const { tenantId } = scope;
    if (tenantId !== null) await this.directory.lockTenant(tx, tenantId);
    return { roleId, role, tenantId };
  }
}
