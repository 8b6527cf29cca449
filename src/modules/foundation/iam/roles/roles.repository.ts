import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { notFound } from '../../../../platform/kernel/errors/domain-error';
import { advisoryLock, firstRow, type Tx } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import { RoleRecord } from '../entities/role.entity';

/** Any number that no other advisory lock of the application uses. */
const ROLE_LOSS_LOCK = 7_203_104;

/** Current assignments of roles to users, direct ones and those through groups, of the users that `ofUser` admits. */
function userAssignments(ofUser: (userColumn: string) => string): string {
  return `
    SELECT ur.user_id, r.role_id, r.role, ur.tenant_id, false AS through_group,
      ur.granted_by_tenant_id AS given_by, NULL::uuid AS put_in_by, ur.from_date AS since
    FROM user_roles ur
    JOIN roles r ON r.role_id = ur.role_id
    WHERE ${ofUser('ur.user_id')} AND ur.to_date = 'infinity'
    UNION ALL
    SELECT gu.user_id, r.role_id, r.role, gr.tenant_id, true,
      CASE WHEN gr.from_date > gu.from_date THEN gr.granted_by_tenant_id END, gu.granted_by_tenant_id,
      GREATEST(gr.from_date, gu.from_date)
    FROM group_users gu
    JOIN groups g ON g.group_id = gu.group_id AND g.to_date = 'infinity'
    JOIN group_roles gr ON gr.group_id = g.group_id AND gr.to_date = 'infinity'
    JOIN roles r ON r.role_id = gr.role_id
    WHERE ${ofUser('gu.user_id')} AND gu.to_date = 'infinity'`;
}

/**
 * SQL of the current roles of a user, direct ones and those through groups: `role`, `tenant_id` (null everywhere),
 * `through_group`, besides `user_id` and `role_id`. Tenants that had a hand in it, null the platform, are `given_by` and,
 * through a group, `put_in_by`: whoever puts a user into a group gives what the group holds then. `since` is when.
 * @param user SQL expression of the user's id
 */
export function heldRoles(user: string): string {
  return userAssignments((column) => `${column} = ${user}`);
}

/** SQL of the same for every user. */
export const ROLES_OF_USERS = userAssignments(() => 'TRUE');

/** SQL of the current roles of every group, in the first columns of {@link ROLES_OF_USERS}. */
export const ROLES_OF_GROUPS = `
    SELECT gr.group_id, r.role_id, r.role, gr.tenant_id, false AS through_group
    FROM group_roles gr
    JOIN roles r ON r.role_id = gr.role_id
    WHERE gr.to_date = 'infinity'`;

/** The roles themselves, and whether those who must not go missing are there. */
@Injectable()
export class RolesRepository {
  constructor(private readonly dataSource: DataSource) {}

  list(): Promise<RoleRecord[]> {
    return this.dataSource.manager.find(RoleRecord, { order: { role_id: 'ASC' } });
  }

  /** The role with the id; 404 when there is none. */
  async get(roleId: number, tx: Tx = this.dataSource.manager): Promise<RoleRecord> {
    const role = await tx.findOneBy(RoleRecord, { role_id: roleId });
    if (!role) throw notFound('ROLE.NOT_FOUND', `There is no role with id ${roleId}. GET /roles lists them.`);
    return role;
  }

  /** Brings the table to these roles; one that is as it should be stays untouched. */
  async write(tx: Tx, roles: readonly Pick<RoleRecord, 'role_id' | 'role' | 'description'>[]): Promise<void> {
    await tx.upsert(RoleRecord, [...roles], { conflictPaths: ['role_id'], skipUpdateIfNoValuesChanged: true });
  }

  /** Changes that may take roles from somebody run one at a time. */
  async lockLosses(tx: Tx): Promise<void> {
    await advisoryLock(tx, ROLE_LOSS_LOCK);
  }

  /** Whether an enabled account is PLATFORM ADMIN and can log in. */
  async platformAdminExists(tx: Tx): Promise<boolean> {
    const found = await firstRow(
      tx,
      `SELECT 1 FROM (${ROLES_OF_USERS}) h JOIN users u ON u.user_id = h.user_id
       WHERE h.role = 'PLATFORM ADMIN' AND h.tenant_id IS NULL AND u.to_date = 'infinity'
         AND (u.password_hash IS NOT NULL OR u.directory <> 'local') LIMIT 1`,
    );
    return found !== null;
  }

  /** Whether the user holds the role ADMIN in the selected tenant. */
  async isAdmin(tx: Tx, { userId, tenantId }: Pick<Principal, 'userId' | 'tenantId'>): Promise<boolean> {
    const found = await firstRow(
      tx,
      `SELECT 1 FROM (${heldRoles('$1::bigint')}) h WHERE h.role = 'ADMIN' AND ${ofTenant('h', '$2')} LIMIT 1`,
      [userId, tenantId],
    );
    return found !== null;
  }
}
