import { Injectable } from '@nestjs/common';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import type { RowLock } from '../../../../platform/http/resources/resource-repository';
import { SessionsRepository } from '../sessions/sessions.repository';
import { actingTenant } from './admin-reach';
import { type GroupRecord, GroupsRepository } from './groups.repository';
import { UsersRepository } from './users.repository';

/** How to lock whoever is given something: what a PLATFORM ADMIN gives may change whose it is. */
export function lockToGive(caller: Principal): RowLock {
  return actingTenant(caller) === null ? true : 'share';
}

/**
 * What a PLATFORM ADMIN gives beyond the owning tenant makes an account or group the platform's, so that the tenant's
 * ADMINs have no hand in it any more. Nor does a platform-wide role come to what they left there: passwords and sessions
 * that they may know end, and so do the memberships that they gave. To be called in the transaction that gives, before
 * it does; the wake-up of sessions that the giving sends is for those that end here, too.
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
   * @param tenantIds where the roles are that the users get; null is everywhere
   */
  async ofUsers(
    tx: Tx,
    caller: Principal,
    userIds: readonly number[],
    tenantIds: readonly (string | null)[],
  ): Promise<void> {
    if (actingTenant(caller) !== null || userIds.length === 0 || tenantIds.length === 0) return;
    await this.users.moveToPlatform(tx, caller, userIds, tenantIds);
    if (!tenantIds.includes(null)) return;
    await this.sessions.endAllOfThese(tx, await this.users.takeKnownPasswords(tx, caller, userIds));
  }

  /**
   * The members get the role, too; those whom an ADMIN of another tenant put in get it from there.
   * @param group locked for update
   * @param tenantId where the role is; null is everywhere
   */
  async ofGroup(tx: Tx, caller: Principal, group: GroupRecord, tenantId: string | null): Promise<void> {
    if (actingTenant(caller) !== null) return;
    const { group_id: groupId, owner_tenant_id: owner } = group;
    if (tenantId === null) await this.groups.removeMembersByTenants(tx, caller, groupId, owner !== null);
    if (owner !== null && owner !== tenantId) await this.groups.moveToPlatform(tx, caller, groupId);
    await this.ofUsers(tx, caller, await this.groups.lockMembersKnownToTenants(tx, groupId), [tenantId]);
  }
}
