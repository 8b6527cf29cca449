import { Injectable } from '@nestjs/common';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { conflict } from '../../../../platform/kernel/errors/domain-error';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { RolesRepository } from './roles.repository';

/** Keeps administrators from locking everybody, or themselves, out. */
@Injectable()
export class LockoutProtection {
  constructor(private readonly roles: RolesRepository) {}

  /**
   * Runs a change that may take roles from somebody. Throws a conflict, so that it is undone with the transaction, when
   * it leaves no enabled account that is PLATFORM ADMIN and can log in. Such changes run one at a time: two administrators
   * who remove each other would both still see the other one.
   */
  async keepPlatformAdmin<T>(tx: Tx, change: () => Promise<T>): Promise<T> {
    await this.roles.lockLosses(tx);
    const before = await this.roles.platformAdminExists(tx);
    const result = await change();
    if (before && !(await this.roles.platformAdminExists(tx))) {
      throw conflict(
        'USER.LAST_PLATFORM_ADMIN',
        'This would leave no enabled account that is PLATFORM ADMIN and has a password. Give another account both first.',
      );
    }
    return result;
  }

  /** As {@link keepPlatformAdmin}; also refuses what takes from the caller the last ADMIN role in the selected tenant. */
  keepAdmins<T>(tx: Tx, caller: Principal, change: () => Promise<T>): Promise<T> {
    return this.keepPlatformAdmin(tx, async () => {
      const before = await this.roles.isAdmin(tx, caller);
      const result = await change();
      if (before && !(await this.roles.isAdmin(tx, caller))) {
        throw conflict(
          'ROLE.OWN_ADMIN',
          'This would take away your own role ADMIN in the selected tenant. Ask another administrator to do it.',
        );
      }
      return result;
    });
  }
}
