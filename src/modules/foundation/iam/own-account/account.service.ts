import { Injectable } from '@nestjs/common';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { forbidden, notFound } from '../../../../platform/kernel/errors/domain-error';
import { idText, validity } from '../../../../platform/kernel/dto/response-fields';
import type { Page, PageRequest } from '../../../../platform/kernel/dto/page';
import type { UserRoles } from '../role-assignments/dto/role-assignment.dto';
import { SessionChanges } from '../sessions/session-changes';
import { SessionsRepository } from '../sessions/sessions.repository';
import type { TenantSummary } from '../tenants/dto/tenant.dto';
import { DirectoryRepository } from '../users-and-groups/directory.repository';
import type { TenantSelection, UserInfo } from './dto/account.dto';

/** Shows users their own account, roles and tenants, and selects the tenant of a session. */
@Injectable()
export class AccountService {
  constructor(
    private readonly directory: DirectoryRepository,
    private readonly sessions: SessionsRepository,
    private readonly changes: SessionChanges,
  ) {}

  async info(principal: Principal): Promise<UserInfo> {
    const user = await this.directory.userById(principal.userId);
    if (!user) throw notFound('USER.NOT_FOUND', `There is no user with id ${principal.userId}.`);
    const groups = await this.directory.groupsOf(principal.userId);
    return {
      user_id: user.user_id,
      tenant_id: principal.tenantId,
      username: user.username,
      display_name: user.display_name,
      email: user.email,
      group_info: groups.map(({ group_id, group_name }) => ({ group_id, groupname: group_name })),
      ...validity(user),
    };
  }

  tenants(principal: Principal, page: PageRequest, partOfName?: string): Promise<Page<TenantSummary>> {
    return this.directory.selectableTenants(principal.userId, page, partOfName);
  }

  async selectTenant(principal: Principal, tenantId: string): Promise<TenantSelection> {
    return this.changes.run(principal.sessionId, async (tx): Promise<TenantSelection> => {
      // Check this before reading the tenant, so that a token gets the same error for tenants that do not exist.
      if (await this.sessions.isBoundToOtherTenant(tx, principal.sessionId, tenantId)) {
        throw forbidden(
          'TENANT.TOKEN_BOUND',
          `Association to the tenant Id: ${tenantId} is not allowed for the current session.`,
        );
      }
      const tenant = await this.directory.currentTenant(tenantId, tx);
      const roles = await this.directory.rolesOf(principal.userId, tenantId, tx);
      if (roles.length === 0) throw forbidden('TENANT.NO_ROLE', `You hold no role in the tenant ${tenantId}.`);
      await this.sessions.selectTenant(tx, principal.sessionId, tenantId);
      return {
        message: `Tenant ${tenant.name} is selected.`,
        user_id: idText(principal.userId),
        tenant_id: tenantId,
        tenant_name: tenant.name,
      };
    });
  }

  async roles(principal: Principal, tenantId: string | null): Promise<UserRoles> {
    const roles = await this.directory.rolesOf(principal.userId, tenantId ?? principal.tenantId);
    const names = (viaGroup: boolean) => [
      ...new Set(roles.filter((role) => role.through_group === viaGroup).map(({ role }) => role)),
    ];
    return {
      user_id: principal.userId,
      username: principal.username,
      user_roles: names(false),
      group_roles: names(true),
    };
  }
}
