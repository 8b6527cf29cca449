import { Injectable } from '@nestjs/common';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import type { RowLock } from '../../../../platform/http/resources/resource-repository';
import { SessionsRepository } from '../sessions/sessions.repository';
import { actingTenant } from './ownership';
import { type GroupRecord, GroupsRepository } from './groups.repository';
import { UsersRepository } from './users.repository';

/**
 * Returns the lock for the receiver of a grant. A PLATFORM ADMIN's grant may change its owner, so it needs an update
 * lock.
 */
export function grantLock(caller: Principal): RowLock {
  return actingTenant(caller) === null ? true : 'share';
}

/**
 * Moves an account or group to the platform when a PLATFORM ADMIN grants it a role outside the owning tenant, so that
 * the tenant's ADMINs can no longer change it. For a platform-wide role it also removes what they may have left behind:
 * passwords they may know, sessions, and memberships they granted.
 *
 * Call this in the transaction of the grant, before the grant. That transaction's `session` notification also covers
 * the sessions that end here.
 */
@Injectable()
export class PlatformTakeover {
  constructor(
    private readonly users: UsersRepository,
    private readonly groups: GroupsRepository,
    private readonly sessions: SessionsRepository,
  ) {}

  /**
   * @param userIds locked for update
   * @param tenantIds tenants of the granted roles; null for a platform-wide role
   */
  async takeOverUsers(
    tx: Tx,
    caller: Principal,
    userIds: readonly number[],
    tenantIds: readonly (string | null)[],
  ): Promise<void> {
    if (actingTenant(caller) !== null || userIds.length === 0 || tenantIds.length === 0) return;
    await this.users.moveToPlatform(tx, caller, userIds, tenantIds);
    if (!tenantIds.includes(null)) return;
    await this.sessions.endAllForUsers(tx, await this.users.clearKnownPasswords(tx, caller, userIds));
  }

  /**
   * Also takes over members, since they get the role too. Members that an ADMIN of another tenant added are left alone:
   * that tenant granted them the role.
   * @param group locked for update
   * @param tenantId tenant of the granted role; null for a platform-wide role
   */
  async takeOverGroup(tx: Tx, caller: Principal, group: GroupRecord, tenantId: string | null): Promise<void> {
    if (actingTenant(caller) !== null) return;
    const { group_id: groupId, owner_tenant_id: owner } = group;
    if (tenantId === null) await this.groups.removeMembersByTenants(tx, caller, groupId, owner !== null);
    if (owner !== null && owner !== tenantId) await this.groups.moveToPlatform(tx, caller, groupId);
    await this.takeOverUsers(tx, caller, await this.groups.lockMembersKnownToTenants(tx, groupId), [tenantId]);
  }
}
