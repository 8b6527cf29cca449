import { Injectable } from '@nestjs/common';
import type { Principal } from '../../../platform/auth/principal';
import { conflict } from '../../../platform/errors/domain-error';
import { firstRow, type Tx } from '../../../platform/persistence/sql';
import { ofTenant } from '../../../platform/persistence/tenant-condition';
import { heldRoles, ROLES_OF_USERS } from './held-roles';

/** Any number that no other advisory lock of the application uses. */
const ROLE_LOSS_LOCK = 7_203_104;

/** Keeps administrators from locking everybody, or themselves, out. */
@Injectable()
export class LockoutProtection {
  /**
   * Runs a change that may take roles from somebody. Throws a conflict, so that it is undone with the transaction, when
   * it leaves no enabled account that is PLATFORM ADMIN and can log in. Such changes run one at a time: two administrators
   * who remove each other would both still see the other one.
   */
  async keepPlatformAdmin<T>(tx: Tx, change: () => Promise<T>): Promise<T> {
    await tx.query('SELECT pg_advisory_xact_lock($1)', [ROLE_LOSS_LOCK]);
    const before = await platformAdminExists(tx);
    const result = await change();
    if (before && !(await platformAdminExists(tx))) {
      throw conflict(
        'USER.LAST_PLATFORM_ADMIN',
        'This would leave no enabled account that is PLATFORM ADMIN and has a password. Give another one both first.',
      );
    }
    return result;
  }

  /** As {@link keepPlatformAdmin}; also refuses what takes from the caller the last ADMIN role in the selected tenant. */
  keepAdmins<T>(tx: Tx, caller: Principal, change: () => Promise<T>): Promise<T> {
    return this.keepPlatformAdmin(tx, async () => {
      const before = await isAdmin(tx, caller);
      const result = await change();
      if (before && !(await isAdmin(tx, caller))) {
        throw conflict(
          'ROLE.OWN_ADMIN',
          'This would take your own role ADMIN in the selected tenant from you. Another administrator has to do it.',
        );
      }
      return result;
    });
  }
}

async function platformAdminExists(tx: Tx): Promise<boolean> {
  const found = await firstRow(
    tx,
    `SELECT 1 FROM (${ROLES_OF_USERS}) h JOIN users u ON u.user_id = h.user_id
     WHERE h.role = 'PLATFORM ADMIN' AND h.tenant_id IS NULL AND u.to_date = 'infinity'
       AND (u.password_hash IS NOT NULL OR u.directory <> 'local') LIMIT 1`,
  );
  return found !== null;
}

async function isAdmin(tx: Tx, { userId, tenantId }: Principal): Promise<boolean> {
  const found = await firstRow(
    tx,
    `SELECT 1 FROM (${heldRoles('$1::bigint')}) h WHERE h.role = 'ADMIN' AND ${ofTenant('h', '$2')} LIMIT 1`,
    [userId, tenantId],
  );
  return found !== null;
}
