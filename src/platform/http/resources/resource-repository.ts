import type { DataSource } from 'typeorm';
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
  type Tx,
  updateRows,
  type Values,
} from '../../kernel/persistence/sql';
import { inTenant, ofTenant } from '../../kernel/persistence/tenant-condition';
import { authorsTable, kindOf, type RecordKindNames } from './record-kind';

/** What is special about one kind of record in SQL. The main table has the alias `t`. */
export interface ResourceSql<E extends object> {
  entity: EntityClass<E>;
  /** What messages call these records; as the entity says by default. */
  names?: RecordKindNames;
  /** The column by which users call a record; `name` by default. */
  name?: keyof E & string;
  /** Of lists; the newest first by their ids by default. */
  order?: string;
  /** What is read besides the columns of the table and the names of the authors. */
  further?: string;
  /** Columns that are not read: large or secret ones. */
  without?: readonly (keyof E & string)[];
  /** Joins that the columns need, exactly one row for each record: conditions refer only to `t`. */
  joins?: string;
}

/** Conditions of a list, one per filter that was sent. */
export type ResourceFilter<E extends object> = (conditions: Conditions<E>) => void;

/** Columns and joins of who created and who changed a record `t`: {@link AuthorNames}. */
export function authorSql(): { names: string; joins: string } {
  const { table, key, name } = authorsTable();
  return {
    names: `cb.${name} AS created_by_name, mb.${name} AS modified_by_name`,
    joins: `LEFT JOIN ${table} cb ON cb.${key} = t.created_by_user_id
      LEFT JOIN ${table} mb ON mb.${key} = t.modified_by_user_id`,
  };
}

/** `true` locks for a change; `share` keeps the record unchanged while another starts to refer to it. */
export type RowLock = boolean | 'share';

/** Who writes a record. */
export interface Author {
  userId: number;
}

/** Scope of what belongs to no tenant: the whole deployment. Who passes it on has admitted the caller to that. */
export const ALL_TENANTS = {};

/**
 * Reads and writes the current records of one kind within a scope: of all there are, unless `within` and `placeOf` say
 * less. Tenants' records have {@link ResourceRepository}. `Row` is the entity, {@link AuthorNames} and what `further` reads.
 */
export class RecordRepository<
  E extends AuditColumns,
  Row extends object,
  Scope extends object,
  Id extends number | string = number,
> {
  /** What the records are called, and their key. */
  readonly kind: RecordKindNames;
  readonly idColumn: keyof E & string;
  private readonly nameColumn: string;
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
      throw new Error(
        `${entity.name} belongs to a tenant: its repository extends ResourceRepository, which keeps to that`,
      );
    }
    this.nameColumn = name;
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

  /** A page of current records, newest first. */
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

  /** The current record that the selector names; 404 when there is none in the scope. */
  async get(
    scope: Scope,
    selector: RecordSelector<Id>,
    tx: Tx = this.dataSource.manager,
    lock: RowLock = false,
  ): Promise<Row> {
    const row = await this.find(scope, selector, tx, lock);
    if (!row) throw this.absent(scope, selector);
    return row;
  }

  /** The 404 for a record that the scope does not have. */
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
    tx: Tx = this.dataSource.manager,
    lock: RowLock = false,
  ): Promise<Row | null> {
    const conditions = this.within(scope);
    this.addValidity(conditions);
    if (selector.id !== undefined) conditions.add(`t.${this.idColumn} = ?`, selector.id);
    if (selector.name !== undefined) conditions.add(`t.${this.nameColumn} = ?`, selector.name);
    const { table, columns, joins, order } = this.source;
    // A name means the current record, even if disabled ones had it, too.
    const sql = `SELECT ${columns} FROM ${table} t ${joins} WHERE ${conditions.sql}
      ORDER BY ${selector.name === undefined ? order : `t.to_date DESC, ${order}`} LIMIT 1 ${lockClause(lock)}`;
    return firstRow<Row>(tx, prepared(sql), conditions.params);
  }

  /** The current records among those with the ids, by id. */
  async findAll(
    scope: Scope,
    ids: readonly Id[],
    tx: Tx = this.dataSource.manager,
    lock: RowLock = false,
  ): Promise<Row[]> {
    if (ids.length === 0) return [];
    return this.findWhere(scope, this.among(ids), tx, lock);
  }

  /** The records among those with the ids, by id, closed ones included: for records that still name them. */
  async findAllEver(scope: Scope, ids: readonly Id[], tx: Tx = this.dataSource.manager): Promise<Row[]> {
    if (ids.length === 0) return [];
    const conditions = this.within(scope);
    this.among(ids)(conditions);
    return this.rowsOf(conditions, tx);
  }

  /** Inserts a record of the scope and returns it as `get` does. */
  async insert(tx: Tx, scope: Scope & Author, values: Values<E>): Promise<Row> {
    const inserted = await insertRow(tx, this.sql.entity, {
      ...values,
      ...this.placeOf(scope),
      created_by_user_id: scope.userId,
      modified_by_user_id: scope.userId,
    });
    return this.get(scope, { id: inserted[this.idColumn] as Id }, tx);
  }

  /** Changes the given columns and the audit columns of a record of the scope, and returns it as `get` does. */
  async update(tx: Tx, scope: Scope & Author, id: Id, values: Values<E>): Promise<Row> {
    await this.write(tx, scope, id, values);
    return this.get(scope, { id }, tx);
  }

  /** Ends the record's validity; its history stays readable. */
  async close(tx: Tx, scope: Scope & Author, id: Id): Promise<void> {
    await this.write(tx, scope, id, { to_date: NOW });
  }

  /** Conditions that keep a statement about `t` within the scope. */
  protected within(_scope: Scope): Conditions<E> {
    return new Conditions<E>();
  }

  /** What keeps a change of rows there. */
  protected rowsOfScope(scope: Scope): Partial<E> {
    return this.placeOf(scope);
  }

  /** Columns that say the same of a new row. */
  protected placeOf(_scope: Scope): Partial<E> {
    return {};
  }

  /** What messages call the records of the scope. */
  protected namesIn(_scope: Scope): RecordKindNames {
    return this.kind;
  }

  /** Where a record was looked for, at the end of a sentence. */
  protected placeName(_scope: Scope): string {
    return '';
  }

  /** Lists show current records; kinds that keep closed ones in their lists override this. */
  protected addValidity(conditions: Conditions<E>): void {
    conditions.add(`t.to_date = 'infinity'`);
  }

  /** The current records that the filter leaves, by id. */
  protected async findWhere(scope: Scope, filter: ResourceFilter<E>, tx: Tx, lock: RowLock = false): Promise<Row[]> {
    const conditions = this.within(scope);
    this.addValidity(conditions);
    filter(conditions);
    return this.rowsOf(conditions, tx, lock);
  }

  protected async write(tx: Tx, scope: Scope & Author, id: Id, values: Values<E>): Promise<void> {
    const change = { ...values, modified_by_user_id: scope.userId, last_update_date: NOW } as Values<E>;
    await updateRows(tx, this.sql.entity, change, { [this.idColumn]: id, ...this.rowsOfScope(scope) });
  }

  private among(ids: readonly Id[]): ResourceFilter<E> {
    return (conditions) => conditions.add(`t.${this.idColumn} = ANY(?)`, ids);
  }

  private rowsOf(conditions: Conditions<E>, tx: Tx, lock: RowLock = false): Promise<Row[]> {
    const { table, columns, joins } = this.source;
    const sql = `SELECT ${columns} FROM ${table} t ${joins} WHERE ${conditions.sql} ORDER BY t.${this.idColumn} ${lockClause(lock)}`;
    return rows<Row>(tx, sql, conditions.params);
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

/** What follows a SELECT of the table with the alias `t`. */
export function lockClause(lock: RowLock): string {
  if (lock === false) return '';
  return lock === 'share' ? 'FOR SHARE OF t' : 'FOR UPDATE OF t';
}
