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
import { actingTenant } from './admin-reach';

/** What differs between users and groups in SQL. */
interface RoleHolderSql<E extends User | Group> extends ResourceSql<E> {
  /** SQL of every current role that one holds: the id column, `role_id`, `role`, `tenant_id`, `through_group`. */
  roles: string;
  /** Table of the roles held directly. */
  rolesTable: 'user_roles' | 'group_roles';
}

/** All of the deployment, or those that hold a role in the tenant. */
export interface HolderScope {
  holdingRolesIn?: string;
}

/** A role that a user or group holds, directly or through a group. */
export type HeldRoleRow = Pick<RoleRecord, 'role'> & { through_group: boolean };

export type RoleAssignmentRow = Pick<UserRole, 'role_id' | 'tenant_id' | keyof AuditColumns> & {
  assignment_id: number;
};

export const AUDIT_COLUMNS = columnsOf(AuditColumns).join(', ');

/** What holds roles, users or groups. Whoever owns them, they may hold roles in any tenant. */
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

  /** All of the ids; 404 naming those that do not exist. */
  async getAll(ids: readonly number[], tx: Tx, lock: RowLock): Promise<Row[]> {
    const found = await this.findAll(ALL_TENANTS, ids, tx, lock);
    const known = new Set(found.map((row) => (row as Record<string, unknown>)[this.idColumn]));
    const missing = ids.filter((id) => !known.has(id));
    if (missing.length === 0) return found;
    const { code, label } = this.kind;
    throw notFound(`${code}.NOT_FOUND`, `There is no ${label} with id ${missing.join(', ')}.`);
  }

  /** Those that hold the role in the tenant or everywhere. */
  withRole(roleId: number, tenantId: string): ResourceFilter<E> {
    const sql = `t.${this.idColumn} IN (SELECT h.${this.idColumn} FROM (${this.holders.roles}) h
      WHERE h.role_id = ? AND (${ofTenant('h')} OR h.tenant_id IS NULL))`;
    return (conditions) => conditions.add(sql, roleId, tenantId);
  }

  /** Roles that each of the ids holds in the tenant and everywhere, by id; none for those without. */
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

  /** It is owned by whom the caller acts for. */
  override insert(tx: Tx, caller: Principal, values: Values<E>): Promise<Row> {
    return super.insert(tx, caller, { ...values, owner_tenant_id: actingTenant(caller) });
  }

  /** Gives the role in the tenant, or everywhere without one; null when it is held directly already. */
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

  /** Takes the role away; answers whether it was held directly. */
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
