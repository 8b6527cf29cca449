import type { DataSource } from 'typeorm';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { notFound } from '../../../../platform/kernel/errors/domain-error';
import { AuditColumns } from '../../../../platform/kernel/persistence/columns';
import { columnsOf } from '../../../../platform/kernel/persistence/entity-table';
import { type Conditions, returning, rows, type Tx, type Values } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import {
  ALL_TENANTS,
  RecordRepository,
  type ResourceFilter,
  type ResourceSql,
  type RowLock,
} from '../../../../platform/http/resources/resource-repository';
import type { Group } from '../entities/group.entity';
import type { RoleRecord } from '../entities/role.entity';
import type { UserRole } from '../entities/user-role.entity';
import type { User } from '../entities/user.entity';
import { actingTenant } from './ownership';

/** The tables and SQL that differ between users and groups. */
interface RoleHolderSql<E extends User | Group> extends ResourceSql<E> {
  /** SQL that selects all current roles: the id column, `role_id`, `role`, `tenant_id`, `through_group`. */
  roles: string;
  /** Table of directly granted roles. */
  rolesTable: 'user_roles' | 'group_roles';
}

/** All users or groups, or only those that hold a role in a tenant. */
export interface HolderScope {
  holdingRolesIn?: string;
}

/** A role that a user or group holds, directly or through a group. */
export type HeldRoleRow = Pick<RoleRecord, 'role'> & { through_group: boolean };

export type RoleAssignmentRow = Pick<UserRole, 'role_id' | 'tenant_id' | keyof AuditColumns> & {
  assignment_id: number;
};

export const AUDIT_COLUMNS = columnsOf(AuditColumns).join(', ');

/** Base repository of users and groups. They may hold roles in any tenant, whichever tenant owns them. */
export class RoleHoldersRepository<E extends User | Group, Row extends object> extends RecordRepository<
  E,
  Row,
  HolderScope
> {
  protected constructor(
    dataSource: DataSource,
    private readonly holders: RoleHolderSql<E>,
  ) {
    super(dataSource, holders);
  }

  /** Throws 404 with the missing ids unless all exist. */
  async getAll(ids: readonly number[], tx: Tx, lock: RowLock): Promise<Row[]> {
    const found = await this.findAll(ALL_TENANTS, ids, tx, lock);
    const known = new Set(found.map((row) => (row as Record<string, unknown>)[this.idColumn]));
    const missing = ids.filter((id) => !known.has(id));
    if (missing.length === 0) return found;
    const { code, label } = this.kind;
    throw notFound(`${code}.NOT_FOUND`, `There is no ${label} with id ${missing.join(', ')}.`);
  }

  /** Filters by a role held in the tenant or platform-wide. */
  withRole(roleId: number, tenantId: string): ResourceFilter<E> {
    const sql = `t.${this.idColumn} IN (SELECT h.${this.idColumn} FROM (${this.holders.roles}) h
      WHERE h.role_id = ? AND (${ofTenant('h')} OR h.tenant_id IS NULL))`;
    return (conditions) => conditions.add(sql, roleId, tenantId);
  }

  /** Returns the roles in the tenant and platform-wide by holder id; an empty list for a holder without roles. */
  async rolesIn(tenantId: string, ids: readonly number[]): Promise<ReadonlyMap<number, HeldRoleRow[]>> {
    const held = await rows<HeldRoleRow & { id: number }>(
      this.dataSource.manager,
      `SELECT DISTINCT h.${this.idColumn} AS id, h.role, h.through_group FROM (${this.holders.roles}) h
       WHERE h.${this.idColumn} = ANY($1) AND (${ofTenant('h', '$2')} OR h.tenant_id IS NULL)`,
      [ids, tenantId],
    );
    const byId = new Map<number, HeldRoleRow[]>(ids.map((id) => [id, []]));
    for (const { id, role, through_group } of held) byId.get(id)?.push({ role, through_group });
    return byId;
  }

  /** The selected tenant becomes the owner, or the platform if the caller is PLATFORM ADMIN. */
  override insert(tx: Tx, caller: Principal, values: Values<E>): Promise<Row> {
    return super.insert(tx, caller, { ...values, owner_tenant_id: actingTenant(caller) });
  }

  /** Grants a role in a tenant, or platform-wide if `tenantId` is null. Returns null if it is already held directly. */
  async assignRole(
    tx: Tx,
    caller: Principal,
    holderId: number,
    { roleId, tenantId }: { roleId: number; tenantId: string | null },
  ): Promise<RoleAssignmentRow | null> {
    const { rolesTable } = this.holders;
    const [assigned] = await returning<RoleAssignmentRow>(
      tx,
      `INSERT INTO ${rolesTable} (${this.idColumn}, role_id, tenant_id, created_by_user_id, modified_by_user_id, granted_by_tenant_id)
       VALUES ($1, $2, $3, $4, $4, $5) ON CONFLICT DO NOTHING
       RETURNING ${rolesTable}_id AS assignment_id, role_id, tenant_id, ${AUDIT_COLUMNS}`,
      [holderId, roleId, tenantId, caller.userId, actingTenant(caller)],
    );
    return assigned ?? null;
  }

  /** Revokes a directly held role. Returns false if it was not held directly. */
  async removeRole(
    tx: Tx,
    caller: Principal,
    holderId: number,
    { roleId, tenantId }: { roleId: number; tenantId: string | null },
  ): Promise<boolean> {
    const removed = await returning(
      tx,
      `UPDATE ${this.holders.rolesTable}
       SET to_date = platform_now(), modified_by_user_id = $4, last_update_date = platform_now()
       WHERE ${this.idColumn} = $1 AND role_id = $2 AND (${ofTenant(this.holders.rolesTable, '$3')} OR ($3 IS NULL AND tenant_id IS NULL))
         AND to_date = 'infinity' RETURNING 1`,
      [holderId, roleId, tenantId, caller.userId],
    );
    return removed.length > 0;
  }

  protected override within(scope: HolderScope): Conditions<E> {
    const tenantId = scope.holdingRolesIn;
    return super
      .within(scope)
      .addIf(
        tenantId !== undefined,
        `t.${this.idColumn} IN (SELECT h.${this.idColumn} FROM (${this.holders.roles}) h WHERE ${ofTenant('h')})`,
        tenantId,
      );
  }

  protected override placeName({ holdingRolesIn }: HolderScope): string {
    return holdingRolesIn === undefined ? '' : ' in the tenant';
  }
}
