import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import type { AuthorNames } from '../../../../platform/kernel/dto/response-fields';
import { returning, rows, type Tx } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import type { ResourceFilter } from '../../../../platform/http/resources/resource-repository';
import { ROLES_OF_USERS } from '../roles/roles.joins';
import { User } from '../entities/user.entity';
import { RoleHoldersRepository } from './role-holders.repository';

const HIDDEN = ['password_hash', 'external_id', 'password_known_to_tenant'] as const satisfies (keyof User)[];

export type UserRecord = Omit<User, (typeof HIDDEN)[number]> & AuthorNames;

/** Reads and writes accounts, enabled and disabled, without password hashes. */
@Injectable()
export class UsersRepository extends RoleHoldersRepository<User, UserRecord> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: User,
      name: 'username',
      without: HIDDEN,
      internal: ['password_known_to_tenant'],
      roles: ROLES_OF_USERS,
      rolesTable: 'user_roles',
    });
  }

  membersOf(groupId: number): ResourceFilter<User> {
    return (conditions) =>
      conditions.add(
        `t.user_id IN (SELECT gu.user_id FROM group_users gu WHERE gu.group_id = ? AND gu.to_date = 'infinity')`,
        groupId,
      );
  }

  /**
   * Makes the platform the owner of those accounts that a tenant owns and that get a role outside it: in another tenant
   * of `tenantIds`, or platform-wide (null). Roles that the tenant granted them then count as granted by the platform.
   */
  async moveToPlatform(
    tx: Tx,
    caller: Principal,
    userIds: readonly number[],
    tenantIds: readonly (string | null)[],
  ): Promise<void> {
    const moving = await rows<Pick<User, 'user_id'>>(
      tx,
      `SELECT u.user_id FROM users u
       WHERE u.user_id = ANY($1) AND u.owner_tenant_id IS NOT NULL
         AND EXISTS (SELECT 1 FROM unnest($2::uuid[]) g(place) WHERE (${ofTenant('u', 'g.place', 'owner_tenant_id')}) IS NOT TRUE)`,
      [userIds, tenantIds],
    );
    if (moving.length === 0) return;
    const ids = moving.map(({ user_id }) => user_id);
    await tx.query(
      `UPDATE user_roles h SET granted_by_tenant_id = NULL FROM users u
       WHERE u.user_id = h.user_id AND h.user_id = ANY($1) AND ${ofTenant('h', 'u.owner_tenant_id', 'granted_by_tenant_id')}`,
      [ids],
    );
    await tx.query(
      `UPDATE users SET owner_tenant_id = NULL, modified_by_user_id = $2, last_update_date = platform_now() WHERE user_id = ANY($1)`,
      [ids, caller.userId],
    );
  }

  /** Clears the passwords that ADMINs of tenants may know. Returns the ids of the affected accounts. */
  async clearKnownPasswords(tx: Tx, caller: Principal, userIds: readonly number[]): Promise<number[]> {
    const cleared = await returning<Pick<User, 'user_id'>>(
      tx,
      `UPDATE users SET password_hash = NULL, password_known_to_tenant = false,
         modified_by_user_id = $2, last_update_date = platform_now()
       WHERE user_id = ANY($1) AND password_known_to_tenant RETURNING user_id`,
      [userIds, caller.userId],
    );
    return cleared.map(({ user_id }) => user_id);
  }

  /** Disabled accounts are included in all reads. */
  protected override addValidity(): void {
    return;
  }
}
