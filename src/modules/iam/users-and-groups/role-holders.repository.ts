import type { DataSource } from 'typeorm';
import type { Principal } from '../../../platform/auth/principal';
import type { Role } from '../../../platform/auth/roles';
import { notFound } from '../../../platform/errors/domain-error';
import type { AuditColumns } from '../../../platform/persistence/columns';
import { type EntityClass, tableOf } from '../../../platform/persistence/entity-table';
import type { Page, PageRequest } from '../../../platform/http/page';
import { type PagedSelect, pagedRows } from '../../../platform/persistence/paged-rows';
import {
  Conditions,
  insertRow,
  NOW,
  returning,
  rows,
  type Tx,
  updateRows,
  type Values,
} from '../../../platform/persistence/sql';
import { ofTenant } from '../../../platform/persistence/tenant-condition';
import { lockClause, type RowLock } from '../../../platform/resources/resource-repository';
import type { Group } from '../entities/group.entity';
import type { User } from '../entities/user.entity';
import { actingTenant, type Owned } from './admin-reach';

/** What differs between users and groups in SQL. The main table has the alias `t`. */
export interface RoleHolderSql<E extends User | Group> {
  entity: EntityClass<E>;
  idColumn: 'user_id' | 'group_id';
  nameColumn: 'username' | 'group_name';
  /** What is read of the main table besides id, name, directory and audit columns. */
  columns: string;
  /** Condition of the records that exist; a disabled account does, a deleted group does not. */
  exists: string;
  /** SQL of every current role that one holds: the id column, `role_id`, `role`, `tenant_id`, `through_group`. */
  roles: string;
  /** Table of the roles held directly. */
  rolesTable: 'user_roles' | 'group_roles';
  /** For errors: `USER` and `user`. */
  code: 'USER' | 'GROUP';
  label: 'user' | 'group';
}

interface RoleHolderRow extends AuditColumns, Owned {
  /** `local`, or the outside directory that the record comes from. */
  directory: string;
}

/** A role that a user or group holds, directly or through a group. */
export interface HeldRoleRow {
  role: Role;
  through_group: boolean;
}

export interface RoleAssignmentRow extends AuditColumns {
  assignment_id: number;
  role_id: number;
  tenant_id: string | null;
}

/** Conditions of a list. */
export type HolderFilter = (conditions: Conditions) => void;

export const AUDIT_COLUMNS = 'created_by_user_id, modified_by_user_id, last_update_date, from_date, to_date';

/** Reads and writes what holds roles, users or groups. Whoever owns them, they may hold roles in any tenant. */
export class RoleHoldersRepository<E extends User | Group, Row extends RoleHolderRow> {
  private readonly source: Omit<PagedSelect, 'conditions'>;

  protected constructor(
    private readonly dataSource: DataSource,
    private readonly sql: RoleHolderSql<E>,
  ) {
    const { entity, idColumn, nameColumn, columns } = sql;
    this.source = {
      table: tableOf(entity),
      key: idColumn,
      columns: `${idColumn}, ${nameColumn}, ${columns}, directory, owner_tenant_id, ${AUDIT_COLUMNS}`,
      order: `t.${idColumn} DESC`,
    };
  }

  /** A page, newest first. */
  async list(page: PageRequest, filters: readonly HolderFilter[], partOfName?: string): Promise<Page<Row>> {
    const conditions = new Conditions().add(this.sql.exists);
    if (partOfName !== undefined) conditions.addContains(`t.${this.sql.nameColumn}`, partOfName);
    for (const filter of filters) filter(conditions);
    return pagedRows<Row>(this.dataSource.manager, { ...this.source, conditions }, page);
  }

  /** Those with this very name, oldest first. */
  named(name: string): Promise<Row[]> {
    const conditions = new Conditions().add(`${this.sql.exists} AND t.${this.sql.nameColumn} = ?`, name);
    return this.select(this.dataSource.manager, conditions, `ORDER BY t.${this.sql.idColumn}`);
  }

  /** The user or group with the id; 404 when there is none. */
  async get(id: number, tx: Tx = this.dataSource.manager, lock: RowLock = false): Promise<Row> {
    const [row] = await this.getAll([id], tx, lock);
    if (!row) throw this.notFound([id]);
    return row;
  }

  /** All of the ids; 404 naming those that do not exist. */
  async getAll(ids: readonly number[], tx: Tx, lock: RowLock): Promise<Row[]> {
    const { idColumn, exists } = this.sql;
    const conditions = new Conditions().add(`${exists} AND t.${idColumn} = ANY(?)`, ids);
    const found = await this.select(tx, conditions, `ORDER BY t.${idColumn} ${lockClause(lock)}`);
    const known = new Set(found.map((row) => (row as Record<string, unknown>)[idColumn]));
    const missing = ids.filter((id) => !known.has(id));
    if (missing.length > 0) throw this.notFound(missing);
    return found;
  }

  /** The user or group with the id if it holds a role in the tenant; 404 otherwise. */
  async getInTenant(tenantId: string, id: number): Promise<Row> {
    const conditions = new Conditions().add(`${this.sql.exists} AND t.${this.sql.idColumn} = ?`, id);
    this.ofTenant(tenantId)(conditions);
    const [row] = await this.select(this.dataSource.manager, conditions, '');
    if (!row) throw this.notFound([id], ' in the tenant');
    return row;
  }

  /** Those that hold a role in the tenant. */
  ofTenant(tenantId: string): HolderFilter {
    const { idColumn, roles } = this.sql;
    const sql = `t.${idColumn} IN (SELECT h.${idColumn} FROM (${roles}) h WHERE ${ofTenant('h')})`;
    return (conditions) => conditions.add(sql, tenantId);
  }

  /** Those that hold the role in the tenant or everywhere. */
  withRole(roleId: number, tenantId: string): HolderFilter {
    const { idColumn, roles } = this.sql;
    const sql = `t.${idColumn} IN (SELECT h.${idColumn} FROM (${roles}) h
      WHERE h.role_id = ? AND (${ofTenant('h')} OR h.tenant_id IS NULL))`;
    return (conditions) => conditions.add(sql, roleId, tenantId);
  }

  /** Roles that each of the ids holds in the tenant and everywhere, by id; none for those without. */
  async rolesIn(tenantId: string, ids: readonly number[]): Promise<ReadonlyMap<number, HeldRoleRow[]>> {
    const held = await rows<HeldRoleRow & { id: number }>(
      this.dataSource.manager,
      `SELECT DISTINCT h.${this.sql.idColumn} AS id, h.role, h.through_group FROM (${this.sql.roles}) h
       WHERE h.${this.sql.idColumn} = ANY($1) AND (${ofTenant('h', '$2')} OR h.tenant_id IS NULL)`,
      [ids, tenantId],
    );
    const byId = new Map<number, HeldRoleRow[]>(ids.map((id) => [id, []]));
    for (const { id, role, through_group } of held) byId.get(id)?.push({ role, through_group });
    return byId;
  }

  /** It is owned by whom the caller acts for. */
  async insert(tx: Tx, caller: Principal, values: Values<E>): Promise<Row> {
    const inserted = await insertRow(tx, this.sql.entity, {
      ...values,
      owner_tenant_id: actingTenant(caller),
      created_by_user_id: caller.userId,
      modified_by_user_id: caller.userId,
    });
    return this.get((inserted as unknown as Record<RoleHolderSql<E>['idColumn'], number>)[this.sql.idColumn], tx);
  }

  /** Changes the given columns; absent ones keep their value. */
  async update(tx: Tx, caller: Principal, id: number, values: Values<E>): Promise<void> {
    const change = { ...values, modified_by_user_id: caller.userId, last_update_date: NOW } as Values<E>;
    await updateRows(tx, this.sql.entity, change, { [this.sql.idColumn]: id } as Partial<E>);
  }

  /** Gives the role in the tenant, or everywhere without one; null when it is held directly already. */
  async assignRole(
    tx: Tx,
    caller: Principal,
    holderId: number,
    { roleId, tenantId }: { roleId: number; tenantId: string | null },
  ): Promise<RoleAssignmentRow | null> {
    const { rolesTable, idColumn } = this.sql;
    const [assigned] = await returning<RoleAssignmentRow>(
      tx,
      `INSERT INTO ${rolesTable} (${idColumn}, role_id, tenant_id, created_by_user_id, modified_by_user_id, granted_by_tenant_id)
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
    const { rolesTable, idColumn } = this.sql;
    const removed = await returning(
      tx,
      `UPDATE ${rolesTable} SET to_date = platform_now(), modified_by_user_id = $4, last_update_date = platform_now()
       WHERE ${idColumn} = $1 AND role_id = $2 AND (${ofTenant(rolesTable, '$3')} OR ($3 IS NULL AND tenant_id IS NULL)) AND to_date = 'infinity' RETURNING 1`,
      [holderId, roleId, tenantId, caller.userId],
    );
    return removed.length > 0;
  }

  private select(tx: Tx, conditions: Conditions, suffix: string): Promise<Row[]> {
    const { table, columns } = this.source;
    return rows<Row>(tx, `SELECT ${columns} FROM ${table} t WHERE ${conditions.sql} ${suffix}`, conditions.params);
  }

  private notFound(ids: readonly number[], where = ''): Error {
    const { code, label } = this.sql;
    return notFound(`${code}.NOT_FOUND`, `There is no ${label} with id ${ids.join(', ')}${where}.`);
  }
}
