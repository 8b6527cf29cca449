import { Injectable } from '@nestjs/common';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { conflict } from '../../../../platform/kernel/errors/domain-error';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { RolesRepository } from './roles.repository';

/** Refuses changes by which administrators would lock out everybody, or themselves. */
@Injectable()
export class LockoutProtection {
  constructor(private readonly roles: RolesRepository) {}

  /**
   * Runs a change that may remove roles. Throws a conflict, which rolls the transaction back, if no enabled PLATFORM
   * ADMIN that can log in remains. Such changes run one at a time; otherwise two administrators who remove each other
   * would both still see the other.
   */
  async keepPlatformAdmin<T>(tx: Tx, change: () => Promise<T>): Promise<T> {
    await this.roles.lockRoleRemovals(tx);
    const before = await this.roles.platformAdminExists(tx);
    const result = await change();
    if (before && !(await this.roles.platformAdminExists(tx))) {
      throw conflict(
        'USER.LAST_PLATFORM_ADMIN',
        'This would leave no enabled PLATFORM ADMIN account with a password. Create or enable another one first.',
      );
    }
    return result;
  }

  /** Like {@link keepPlatformAdmin}, but also keeps callers from losing their ADMIN role in the selected tenant. */
  keepAdmins<T>(tx: Tx, caller: Principal, change: () => Promise<T>): Promise<T> {
    return this.keepPlatformAdmin(tx, async () => {
      const before = await this.roles.isAdmin(tx, caller);
      const result = await change();
      if (before && !(await this.roles.isAdmin(tx, caller))) {
        throw conflict(
          'ROLE.OWN_ADMIN',
          'This would remove your own ADMIN role in the selected tenant. Ask another administrator to do it.',
        );
      }
      return result;
    });
  }
}
