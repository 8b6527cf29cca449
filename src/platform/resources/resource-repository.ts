import type { DataSource } from 'typeorm';
import type { TenantScope } from '../auth/principal';
import { notFound } from '../errors/domain-error';
import type { Page, PageRequest } from '../http/page';
import { describeSelector, type RecordSelector } from '../http/selector';
import { type PagedSelect, pagedRows } from '../persistence/paged-rows';
import { Conditions, firstRow, insertRow, rows, type Tx, updateRows } from '../persistence/sql';

/** What is special about one kind of record in SQL. The main table has the alias `t`. */
export interface ResourceSql {
  table: string;
  idColumn: string;
  /** What follows SELECT, besides the audit columns: `t.*, …`. */
  columns: string;
  /** Joins that the columns need, one row of them for each record: conditions are about `t` alone. */
  joins?: string;
  /** For errors: `VOLUME_CONF` and `volume configuration`. */
  code: string;
  label: string;
}

/** Conditions of a list, one per filter that was given. */
export type ResourceFilter = (conditions: Conditions) => void;

/** Names of who made and who changed a record `t`; with {@link AUDIT_JOINS}. */
export const AUDIT_COLUMNS = `t.created_by_user_id AS created_by_id, cb.username AS created_by_name,
  t.modified_by_user_id AS modified_by_id, mb.username AS modified_by_name`;
export const AUDIT_JOINS = `LEFT JOIN users cb ON cb.user_id = t.created_by_user_id
  LEFT JOIN users mb ON mb.user_id = t.modified_by_user_id`;

/** `true` locks for a change; `share` keeps the record as it is while another comes to refer to it. */
export type RowLock = boolean | 'share';

/** Reads and writes the current records of one kind, always within a tenant. */
export class ResourceRepository<Row extends object> {
  private readonly source: Omit<PagedSelect, 'conditions'>;

  constructor(
    protected readonly dataSource: DataSource,
    readonly sql: ResourceSql,
  ) {
    this.source = {
      table: sql.table,
      key: sql.idColumn,
      columns: `${sql.columns}, ${AUDIT_COLUMNS}`,
      joins: `${sql.joins ?? ''} ${AUDIT_JOINS}`,
      order: `t.${sql.idColumn} DESC`,
    };
  }

  /** A page of current records, newest first. */
  async list(
    scope: TenantScope,
    page: PageRequest,
    filter: ResourceFilter = () => undefined,
    partOfName?: string,
  ): Promise<Page<Row>> {
    const conditions = new Conditions().add('t.tenant_id = ?', scope.tenantId);
    this.addValidity(conditions);
    if (partOfName !== undefined) conditions.addContains('t.name', partOfName);
    filter(conditions);
    return pagedRows<Row>(this.dataSource.manager, { ...this.source, conditions }, page);
  }

  /** The current record that the selector names; 404 when this tenant has none. */
  async get(
    scope: TenantScope,
    selector: RecordSelector,
    tx: Tx = this.dataSource.manager,
    lock: RowLock = false,
  ): Promise<Row> {
    const row = await this.find(scope, selector, tx, lock);
    if (!row) {
      throw notFound(`${this.sql.code}.NOT_FOUND`, `There is no ${this.sql.label} with ${describeSelector(selector)}.`);
    }
    return row;
  }

  async find(
    scope: TenantScope,
    selector: RecordSelector,
    tx: Tx = this.dataSource.manager,
    lock: RowLock = false,
  ): Promise<Row | null> {
    const conditions = new Conditions().add('t.tenant_id = ?', scope.tenantId);
    this.addValidity(conditions);
    if (selector.id !== undefined) conditions.add(`t.${this.sql.idColumn} = ?`, selector.id);
    if (selector.name !== undefined) conditions.add('t.name = ?', selector.name);
    const { table, columns, joins, order } = this.source;
    // A name is that of the current record, where there are disabled ones that had it, too.
    const sql = `SELECT ${columns} FROM ${table} t ${joins} WHERE ${conditions.sql}
      ORDER BY ${selector.name === undefined ? order : `t.to_date DESC, ${order}`} LIMIT 1 ${lockClause(lock)}`;
    return firstRow<Row>(tx, sql, conditions.params);
  }

  /** The current records among those with the ids, by id. */
  async findAll(
    scope: TenantScope,
    ids: readonly number[],
    tx: Tx = this.dataSource.manager,
    lock: RowLock = false,
  ): Promise<Row[]> {
    return this.allOf(scope, ids, tx, lock, true);
  }

  /** The records among those with the ids, by id, closed ones included: for what names them still. */
  async findAllEver(scope: TenantScope, ids: readonly number[], tx: Tx = this.dataSource.manager): Promise<Row[]> {
    return this.allOf(scope, ids, tx, false, false);
  }

  /** Inserts a record of the scope's tenant and answers it as `get` does. */
  async insert(tx: Tx, scope: TenantScope, values: Readonly<Record<string, unknown>>): Promise<Row> {
    const inserted = await insertRow<Record<string, unknown>>(tx, this.sql.table, {
      ...values,
      tenant_id: scope.tenantId,
      created_by_user_id: scope.userId,
      modified_by_user_id: scope.userId,
    });
    return this.get(scope, { id: Number(inserted[this.sql.idColumn]) }, tx);
  }

  /** Changes the given columns and the audit columns of a record of the scope's tenant. */
  async update(tx: Tx, scope: TenantScope, id: number, values: Readonly<Record<string, unknown>>): Promise<Row> {
    await this.write(tx, scope, id, values);
    return this.get(scope, { id }, tx);
  }

  /** Ends the record's validity; its history stays readable. */
  async close(tx: Tx, scope: TenantScope, id: number): Promise<void> {
    await this.write(tx, scope, id, { to_date: new Date() });
  }

  /** Lists show current records; kinds that keep closed ones in their lists override this. */
  protected addValidity(conditions: Conditions): void {
    conditions.add(`t.to_date = 'infinity'`);
  }

  private async allOf(
    scope: TenantScope,
    ids: readonly number[],
    tx: Tx,
    lock: RowLock,
    onlyCurrent: boolean,
  ): Promise<Row[]> {
    if (ids.length === 0) return [];
    const conditions = new Conditions().add('t.tenant_id = ?', scope.tenantId);
    if (onlyCurrent) this.addValidity(conditions);
    conditions.add(`t.${this.sql.idColumn} = ANY(?)`, ids);
    const { table, columns, joins } = this.source;
    const sql = `SELECT ${columns} FROM ${table} t ${joins} WHERE ${conditions.sql} ORDER BY t.${this.sql.idColumn} ${lockClause(lock)}`;
    return rows<Row>(tx, sql, conditions.params);
  }

  private async write(
    tx: Tx,
    scope: TenantScope,
    id: number,
    values: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    await updateRows(
      tx,
      this.sql.table,
      { ...values, modified_by_user_id: scope.userId, last_update_date: new Date() },
      { [this.sql.idColumn]: id, tenant_id: scope.tenantId },
    );
  }
}

/** What follows a SELECT of the table with the alias `t`. */
export function lockClause(lock: RowLock): string {
  if (lock === false) return '';
  return lock === 'share' ? 'FOR SHARE OF t' : 'FOR UPDATE OF t';
}
