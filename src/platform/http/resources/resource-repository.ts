import type { DataSource } from 'typeorm';
import { isChangeAudited, isInserted, noteChange, noteInsert } from '../../kernel/audit/record-changes';
import type { TenantScope } from '../../kernel/auth/principal';
import { type DomainError, notFound } from '../../kernel/errors/domain-error';
import type { Page, PageRequest } from '../../kernel/dto/page';
import { describeSelector, type RecordSelector } from '../../kernel/dto/selector';
import { type PagedSelect, pagedRows } from '../../kernel/persistence/paged-rows';
import type { AuthorNames } from '../../kernel/dto/response-fields';
import type { AuditColumns, TenantColumns } from '../../kernel/persistence/columns';
import { columnsOf, type EntityClass, keyOf, tableOf } from '../../kernel/persistence/entity-table';
import {
  Conditions,
  firstRow,
  insertRow,
  NOW,
  prepared,
  rows,
  type Db,
  type Tx,
  updateRows,
  type Values,
} from '../../kernel/persistence/sql';
import { inTenant, ofTenant } from '../../kernel/persistence/tenant-condition';
import { authorsTable, kindOf, type RecordKindNames } from './record-kind';

/** SQL of one kind of record, whose table has the alias `t`. */
export interface ResourceSql<E extends object> {
  entity: EntityClass<E>;
  /** Names of the records in messages; by default those of the entity. */
  names?: RecordKindNames;
  /** Column with the name of a record; `name` by default. */
  name?: keyof E & string;
  /** Order of lists; by default the newest first by their ids. */
  order?: string;
  /** Further columns besides those of the table and the names of the authors. */
  further?: string;
  /** Columns that are not read, because they are large or secret. */
  without?: readonly (keyof E & string)[];
  /** Columns that only the platform sets: the audit log does not say how they change. */
  internal?: readonly (keyof E & string)[];
  /** Joins for the columns, each with exactly one row per record. Conditions refer only to `t`. */
  joins?: string;
}

/** Adds the conditions of a list, one per filter of the request. */
export type ResourceFilter<E extends object> = (conditions: Conditions<E>) => void;

/** Returns columns and joins for the {@link AuthorNames} of a record `t`. */
export function authorSql(): { names: string; joins: string } {
  const { table, key, name } = authorsTable();
  return {
    names: `cb.${name} AS created_by_name, mb.${name} AS modified_by_name`,
    joins: `LEFT JOIN ${table} cb ON cb.${key} = t.created_by_user_id
      LEFT JOIN ${table} mb ON mb.${key} = t.modified_by_user_id`,
  };
}

/** `true` locks a record for a change. `share` keeps it unchanged until the transaction ends, for a new reference to it. */
export type RowLock = boolean | 'share';

/** The user who writes a record. */
export interface Author {
  userId: number;
}

/** Scope of the whole deployment, for records that belong to no tenant. Code that uses it must have checked the caller's access. */
export const ALL_TENANTS = {};

/**
 * Reads and writes the current records of one kind within a scope, which is the deployment unless `within` and `placeOf`
 * narrow it. Records of tenants have a {@link ResourceRepository}. `Row` is the entity, {@link AuthorNames} and the columns of
 * `further`.
 */
export class RecordRepository<
  E extends AuditColumns,
  Row extends object,
  Scope extends object,
  Id extends number | string = number,
> {
  /** Names of the records in messages. */
  readonly kind: RecordKindNames;
  readonly idColumn: keyof E & string;
  private readonly nameColumn: string;
  /** Column of the tenant that owns a record. */
  private readonly ownerColumn: string;
  private readonly source: Omit<PagedSelect, 'conditions'>;

  constructor(
    protected readonly dataSource: DataSource,
    protected readonly sql: ResourceSql<E>,
  ) {
    const { entity, further, without = [], name = 'name' } = sql;
    this.kind = sql.names ?? kindOf(entity);
    this.idColumn = keyOf(entity);
    const isOfTenant =
      this.idColumn !== 'tenant_id' && columnsOf<object>(entity).some((column) => column === 'tenant_id');
    if (isOfTenant && !(this instanceof ResourceRepository)) {
      throw new Error(`${entity.name} belongs to a tenant, so its repository must extend ResourceRepository`);
    }
    this.nameColumn = name;
    const isShared = columnsOf<object>(entity).some((column) => column === 'owner_tenant_id');
    this.ownerColumn = isShared ? 'owner_tenant_id' : 'tenant_id';
    const read = columnsOf(entity).filter((column) => !without.includes(column));
    const own = read.map((column) => `t.${column}`).join(', ');
    const author = authorSql();
    this.source = {
      table: tableOf(entity),
      key: this.idColumn,
      columns: [own, further, author.names].filter(Boolean).join(', '),
      joins: `${sql.joins ?? ''} ${author.joins}`,
      order: sql.order ?? `t.${this.idColumn} DESC`,
    };
  }

  /** Returns a page of current records, newest first. */
  async list(
    scope: Scope,
    page: PageRequest,
    filter: ResourceFilter<E> = () => undefined,
    partOfName?: string,
  ): Promise<Page<Row>> {
    const conditions = this.within(scope);
    this.addValidity(conditions);
    if (partOfName !== undefined) conditions.addContains(`t.${this.nameColumn}`, partOfName);
    filter(conditions);
    return pagedRows<Row>(this.dataSource.manager, { ...this.source, conditions }, page);
  }

  /** Returns the current record that the selector names. Throws a 404 if the scope has none. */
  async get(
    scope: Scope,
    selector: RecordSelector<Id>,
    db: Db = this.dataSource.manager,
    lock: RowLock = false,
  ): Promise<Row> {
    const row = await this.find(scope, selector, db, lock);
    if (!row) throw this.absent(scope, selector);
    return row;
  }

  /** Returns the 404 for a record that the scope does not have. */
  absent(scope: Scope, selector: RecordSelector<Id>): DomainError {
    const { code, label } = this.namesIn(scope);
    return notFound(
      `${code}.NOT_FOUND`,
      `There is no ${label} with ${describeSelector(selector)}${this.placeName(scope)}.`,
    );
  }

  async find(
    scope: Scope,
    selector: RecordSelector<Id>,
    db: Db = this.dataSource.manager,
    lock: RowLock = false,
  ): Promise<Row | null> {
    const conditions = this.within(scope);
    this.addValidity(conditions);
    if (selector.id !== undefined) conditions.add(`t.${this.idColumn} = ?`, selector.id);
    if (selector.name !== undefined) conditions.add(`t.${this.nameColumn} = ?`, selector.name);
    const { table, columns, joins, order } = this.source;
    // A name selects the current record, even if disabled ones have the same name.
    const sql = `SELECT ${columns} FROM ${table} t ${joins} WHERE ${conditions.sql}
      ORDER BY ${selector.name === undefined ? order : `t.to_date DESC, ${order}`} LIMIT 1 ${lockClause(lock)}`;
    return firstRow<Row>(db, prepared(sql), conditions.params);
  }

  /** Returns the current records with these ids, ordered by id. */
  async findAll(
    scope: Scope,
    ids: readonly Id[],
    db: Db = this.dataSource.manager,
    lock: RowLock = false,
  ): Promise<Row[]> {
    if (ids.length === 0) return [];
    return this.findWhere(scope, this.among(ids), db, lock);
  }

  /** Returns the records with these ids, ordered by id. Closed ones are included, because other records may still refer to them. */
  async findAllEver(scope: Scope, ids: readonly Id[], db: Db = this.dataSource.manager): Promise<Row[]> {
    if (ids.length === 0) return [];
    const conditions = this.within(scope);
    this.among(ids)(conditions);
    return this.rowsOf(conditions, db);
  }

  /** Inserts a record of the scope and returns it as `get` does. */
  async insert(tx: Tx, scope: Scope & Author, values: Values<E>): Promise<Row> {
    const inserted = await insertRow(tx, this.sql.entity, {
      ...values,
      ...this.placeOf(scope),
      created_by_user_id: scope.userId,
      modified_by_user_id: scope.userId,
    });
    const id = inserted[this.idColumn] as Id;
    noteInsert(tx, this.namesIn(scope).label, id);
    return this.get(scope, { id }, tx);
  }

  /** Changes the given columns and the audit columns of a record of the scope, and returns it as `get` does. */
  async update(tx: Tx, scope: Scope & Author, id: Id, values: Values<E>): Promise<Row> {
    await this.write(tx, scope, id, values);
    return this.get(scope, { id }, tx);
  }

  /** Ends the record's validity. Its history stays readable. */
  async close(tx: Tx, scope: Scope & Author, id: Id): Promise<void> {
    await this.writeRow(tx, scope, id, { to_date: NOW });
  }

  /** Returns the conditions that keep a statement on `t` within the scope. */
  protected within(_scope: Scope): Conditions<E> {
    return new Conditions<E>();
  }

  /** Returns the column values that keep an update within the scope. */
  protected rowsOfScope(scope: Scope): Partial<E> {
    return this.placeOf(scope);
  }

  /** Returns the column values that put a new row into the scope. */
  protected placeOf(_scope: Scope): Partial<E> {
    return {};
  }

  /** Returns the names of the scope's records in messages. */
  protected namesIn(_scope: Scope): RecordKindNames {
    return this.kind;
  }

  /** Returns words for the end of a sentence that name the scope. */
  protected placeName(_scope: Scope): string {
    return '';
  }

  /** Limits lists to current records. Kinds whose lists include closed ones override this. */
  protected addValidity(conditions: Conditions<E>): void {
    conditions.add(`t.to_date = 'infinity'`);
  }

  /** Returns the current records that match the filter, ordered by id. */
  protected async findWhere(scope: Scope, filter: ResourceFilter<E>, db: Db, lock: RowLock = false): Promise<Row[]> {
    const conditions = this.within(scope);
    this.addValidity(conditions);
    filter(conditions);
    return this.rowsOf(conditions, db, lock);
  }

  /** Changes columns of a record, and notes for the audit row of the request which values differ. */
  protected async write(tx: Tx, scope: Scope & Author, id: Id, values: Values<E>): Promise<void> {
    const { visible, hidden } = this.auditedColumns(values);
    const { label } = this.namesIn(scope);
    const isAudited = isChangeAudited() && visible.length + hidden.length > 0 && !isInserted(tx, { label, id });
    const before = isAudited ? await this.columnsBefore(tx, scope, id, visible) : null;
    const [row] = await this.writeRow(tx, scope, id, values);
    if (!before || !row) return;
    const after = Object.fromEntries(visible.map((column) => [column, row[column]]));
    noteChange(tx, { label, id, ...before, after, hidden });
  }

  /** Like {@link write}, for the end of a record, which the operation names. */
  protected writeRow(tx: Tx, scope: Scope & Author, id: Id, values: Values<E>): Promise<E[]> {
    const change = { ...values, modified_by_user_id: scope.userId, last_update_date: NOW } as Values<E>;
    return updateRows(tx, this.sql.entity, change, { [this.idColumn]: id, ...this.rowsOfScope(scope) });
  }

  /** Divides the columns that a write sets into those that may be read and those that are secret. */
  private auditedColumns(values: Values<E>): Record<'visible' | 'hidden', (keyof E & string)[]> {
    const { without = [], internal = [] } = this.sql;
    const columns = columnsOf(this.sql.entity).filter(
      (column) => values[column] !== undefined && !internal.includes(column),
    );
    return {
      visible: columns.filter((column) => !without.includes(column)),
      hidden: columns.filter((column) => without.includes(column)),
    };
  }

  /** Returns the tenant and the columns of a record that is about to change. */
  private async columnsBefore(
    tx: Tx,
    scope: Scope,
    id: Id,
    columns: readonly string[],
  ): Promise<{ tenantId: string | null; before: Record<string, unknown> } | null> {
    const conditions = this.within(scope).add(`t.${this.idColumn} = ?`, id);
    const read = [`t.${this.ownerColumn} AS owner`, ...columns.map((column) => `t.${column}`)].join(', ');
    const row = await firstRow<Record<string, unknown> & { owner: string | null }>(
      tx,
      `SELECT ${read} FROM ${this.source.table} t WHERE ${conditions.sql} FOR NO KEY UPDATE`,
      conditions.params,
    );
    if (!row) return null;
    const { owner: tenantId, ...before } = row;
    return { tenantId, before };
  }

  private among(ids: readonly Id[]): ResourceFilter<E> {
    return (conditions) => conditions.add(`t.${this.idColumn} = ANY(?)`, ids);
  }

  private rowsOf(conditions: Conditions<E>, db: Db, lock: RowLock = false): Promise<Row[]> {
    const { table, columns, joins } = this.source;
    const sql = `SELECT ${columns} FROM ${table} t ${joins} WHERE ${conditions.sql} ORDER BY t.${this.idColumn} ${lockClause(lock)}`;
    return rows<Row>(db, sql, conditions.params);
  }
}

/** Reads and writes the current records of one kind, always within a tenant. */
export class ResourceRepository<
  E extends TenantColumns,
  Row extends object = E & AuthorNames,
  Scope extends TenantScope = TenantScope,
> extends RecordRepository<E, Row, Scope> {
  protected override within(scope: Scope): Conditions<E> {
    return super.within(scope).add(ofTenant('t'), scope.tenantId);
  }

  protected override placeOf(scope: Scope): Partial<E> {
    return { tenant_id: scope.tenantId } as Partial<E>;
  }

  protected override rowsOfScope(scope: Scope): Partial<E> {
    return { ...super.rowsOfScope(scope), ...inTenant(scope) };
  }
}

/** Returns the locking clause of a SELECT whose table has the alias `t`. */
export function lockClause(lock: RowLock): string {
  if (lock === false) return '';
  return lock === 'share' ? 'FOR SHARE OF t' : 'FOR UPDATE OF t';
}
