import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { notFound } from '../../../../platform/kernel/errors/domain-error';
import type { Page, PageRequest } from '../../../../platform/kernel/dto/page';
import { pagedRows } from '../../../../platform/kernel/persistence/paged-rows';
import {
  Conditions,
  firstRow,
  NOW,
  rows,
  type Db,
  type Tx,
  updateRows,
} from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import type { Group } from '../entities/group.entity';
import type { RoleRecord } from '../entities/role.entity';
import type { Tenant } from '../entities/tenant.entity';
import type { UserRole } from '../entities/user-role.entity';
import { User } from '../entities/user.entity';
import { heldRoles } from '../roles/roles.joins';

type GroupRow = Pick<Group, 'group_id' | 'group_name'>;

type TenantRow = Pick<Tenant, 'tenant_id' | 'name' | 'description'>;

export type HeldRole = Pick<RoleRecord, 'role'> & Pick<UserRole, 'tenant_id'> & { through_group: boolean };

/** Reads users with their groups, tenants and roles. */
@Injectable()
export class DirectoryRepository {
  constructor(private readonly dataSource: DataSource) {}

  userByName(username: string): Promise<User | null> {
    return this.dataSource.manager.findOneBy(User, { username: username.toLowerCase() });
  }

  userById(userId: number): Promise<User | null> {
    return this.dataSource.manager.findOneBy(User, { user_id: userId });
  }

  /** Replaces a password hash. Returns false if it is no longer `oldHash`. */
  async replacePassword(tx: Tx, userId: number, oldHash: string, newHash: string): Promise<boolean> {
    const changed = await updateRows(
      tx,
      User,
      { password_hash: newHash, modified_by_user_id: userId, last_update_date: NOW },
      { user_id: userId, password_hash: oldHash },
    );
    return changed.length > 0;
  }

  groupsOf(userId: number, db: Db = this.dataSource.manager): Promise<GroupRow[]> {
    return rows<GroupRow>(
      db,
      `SELECT g.group_id, g.group_name FROM group_users gu JOIN groups g ON g.group_id = gu.group_id
       WHERE gu.user_id = $1 AND gu.to_date = 'infinity' AND g.to_date = 'infinity' ORDER BY g.group_id`,
      [userId],
    );
  }

  /** Returns the user's roles in the tenant, if one is given, and the platform-wide roles. */
  rolesOf(userId: number, tenantId: string | null, db: Db = this.dataSource.manager): Promise<HeldRole[]> {
    return rows<HeldRole>(
      db,
      `SELECT DISTINCT h.role, h.tenant_id, h.through_group FROM (${heldRoles('$1::bigint')}) h
       WHERE h.tenant_id IS NULL OR ${ofTenant('h', '$2')}`,
      [userId, tenantId],
    );
  }

  /**
   * Returns the first two current tenants in which the user holds a role. Tenants where the account's owner or the
   * platform granted a role (`own`) come before those where only another tenant did; older roles come first.
   */
  tenantsToPropose(tx: Tx, userId: number): Promise<(Pick<Tenant, 'tenant_id'> & { own: boolean })[]> {
    return rows<Pick<Tenant, 'tenant_id'> & { own: boolean }>(
      tx,
      `SELECT h.tenant_id,
         bool_or((h.given_by IS NULL OR h.given_by IS NOT DISTINCT FROM u.owner_tenant_id)
             AND (h.put_in_by IS NULL OR h.put_in_by IS NOT DISTINCT FROM u.owner_tenant_id)) AS own
       FROM (${heldRoles('$1::bigint')}) h
       JOIN users u ON u.user_id = h.user_id
       JOIN tenants t ON ${ofTenant('t', 'h.tenant_id')} AND t.to_date = 'infinity'
       GROUP BY h.tenant_id ORDER BY own DESC, min(h.since), h.tenant_id LIMIT 2`,
      [userId],
    );
  }

  /** Throws 404 if there is no current tenant with the id. */
  async currentTenant(tenantId: string, db: Db = this.dataSource.manager): Promise<TenantRow> {
    return this.tenant(db, tenantId, '');
  }

  /**
   * Locks a current tenant, so that it cannot be deleted before `tx` ends; throws 404 if there is none. Call this
   * before locking records of the tenant.
   */
  async lockTenant(tx: Tx, tenantId: string): Promise<void> {
    // KEY SHARE waits for a deletion in progress, but not for an update of the tenant's name.
    await this.tenant(tx, tenantId, 'FOR KEY SHARE');
  }

  /** Returns a page of the tenants that the user may select, newest first. */
  async selectableTenants(userId: number, page: PageRequest, partOfName?: string): Promise<Page<TenantRow>> {
    const conditions = new Conditions().add(`t.to_date = 'infinity'`).add(
      `EXISTS (SELECT 1 FROM (${heldRoles('?')}) h
               WHERE ${ofTenant('h', 't.tenant_id')} OR h.tenant_id IS NULL)`,
      userId,
      userId,
    );
    if (partOfName !== undefined) conditions.addContains('t.name', partOfName);
    const columns = 't.tenant_id, t.name, t.description';
    const order = 't.from_date DESC, t.tenant_id';
    const select = { table: 'tenants', key: 'tenant_id', columns, conditions, order };
    return pagedRows<TenantRow>(this.dataSource.manager, select, page);
  }

  private async tenant(db: Db, tenantId: string, lock: string): Promise<TenantRow> {
    const sql = `SELECT tenant_id, name, description FROM tenants t WHERE ${ofTenant('t', '$1')} AND to_date = 'infinity' ${lock}`;
    const tenant = await firstRow<TenantRow>(db, sql, [tenantId]);
    if (tenant) return tenant;
    throw notFound('TENANT.NOT_FOUND', `There is no tenant with id ${tenantId}.`);
  }
}
