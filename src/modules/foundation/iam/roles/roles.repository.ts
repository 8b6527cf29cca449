import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { notFound } from '../../../../platform/kernel/errors/domain-error';
import { advisoryLock, firstRow, type Db, type Tx } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import { RoleRecord } from '../entities/role.entity';
import { heldRoles, ROLES_OF_USERS } from './roles.joins';

/** Key of the advisory lock. It must differ from all other advisory locks of the application. */
const ROLE_REMOVAL_LOCK = 7_203_104;

/** Reads and writes the roles, and checks whether required administrators exist. */
@Injectable()
export class RolesRepository {
  constructor(private readonly dataSource: DataSource) {}

  list(): Promise<RoleRecord[]> {
    return this.dataSource.manager.find(RoleRecord, { order: { role_id: 'ASC' } });
  }

  /** Throws 404 if there is no role with the id. */
  async get(roleId: number, db: Db = this.dataSource.manager): Promise<RoleRecord> {
    const role = await db.findOneBy(RoleRecord, { role_id: roleId });
    if (!role) throw notFound('ROLE.NOT_FOUND', `There is no role with id ${roleId}. GET /roles lists them.`);
    return role;
  }

  /** Inserts or updates the roles. Rows without a change are not written. */
  async write(tx: Tx, roles: readonly Pick<RoleRecord, 'role_id' | 'role' | 'description'>[]): Promise<void> {
    await tx.upsert(RoleRecord, [...roles], { conflictPaths: ['role_id'], skipUpdateIfNoValuesChanged: true });
  }

  /** Serialises changes that may remove roles. */
  async lockRoleRemovals(tx: Tx): Promise<void> {
    await advisoryLock(tx, ROLE_REMOVAL_LOCK);
  }

  /** True if an enabled PLATFORM ADMIN account can log in. */
  async platformAdminExists(tx: Tx): Promise<boolean> {
    const found = await firstRow(
      tx,
      `SELECT 1 FROM (${ROLES_OF_USERS}) h JOIN users u ON u.user_id = h.user_id
       WHERE h.role = 'PLATFORM ADMIN' AND h.tenant_id IS NULL AND u.to_date = 'infinity'
         AND (u.password_hash IS NOT NULL OR u.directory <> 'local') LIMIT 1`,
    );
    return found !== null;
  }

  async isAdmin(tx: Tx, { userId, tenantId }: Pick<Principal, 'userId' | 'tenantId'>): Promise<boolean> {
    const found = await firstRow(
      tx,
      `SELECT 1 FROM (${heldRoles('$1::bigint')}) h WHERE h.role = 'ADMIN' AND ${ofTenant('h', '$2')} LIMIT 1`,
      [userId, tenantId],
    );
    return found !== null;
  }
}
