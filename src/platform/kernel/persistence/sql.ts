import type { EntityManager } from 'typeorm';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity';
import { type EntityClass, tableOf } from './entity-table';

/** A connection outside a transaction, or an open transaction. Reads need no more. */
export type Db = EntityManager;

declare const OPEN: unique symbol;

/** An open transaction, as {@link inTransaction} and `Transactions` make it. Writes that belong together take one. */
export type Tx = Db & { readonly [OPEN]: true };

/** Runs `fn` in a transaction, which commits if it returns and rolls back if it throws. Within a transaction it is a savepoint. */
export function inTransaction<T>(
  db: Pick<Db, 'transaction'>,
  fn: (tx: Tx) => Promise<T>,
  isolation?: IsolationLevel,
): Promise<T> {
  const run = (manager: Db) => fn(manager as Tx);
  // PostgreSQL's default needs no statement that sets it.
  return isolation === undefined ? db.transaction(run) : db.transaction(isolation, run);
}

export type SqlValue = unknown;

/** Converts a value for a jsonb column. Without this, the driver would send an array as a PostgreSQL array. */
export function jsonb(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

export async function rows<T>(db: Db, sql: string, params: readonly SqlValue[] = []): Promise<T[]> {
  const result: unknown = await db.query(sql, [...params]);
  return result as T[];
}

export async function firstRow<T>(db: Db, sql: string, params: readonly SqlValue[] = []): Promise<T | null> {
  return (await rows<T>(db, sql, params))[0] ?? null;
}

/** Returns the rows of an UPDATE, DELETE or INSERT with RETURNING. TypeORM wraps those of UPDATE and DELETE in a pair. */
export async function returning<T>(db: Db, sql: string, params: readonly SqlValue[] = []): Promise<T[]> {
  const result: unknown = await db.query(sql, [...params]);
  if (Array.isArray(result) && result.length === 2 && Array.isArray(result[0]) && typeof result[1] === 'number') {
    return result[0] as T[];
  }
  return result as T[];
}

const PREPARED = '/* prepared */ ';

/**
 * Marks a statement that each connection plans only once, for hot statements whose planning takes longer than their
 * execution. The statement must name its columns, because a new column in a `*` would make the kept plan fail.
 */
export function prepared(sql: string): string {
  return PREPARED + sql;
}

export function isPrepared(sql: string): boolean {
  return sql.startsWith(PREPARED);
}

/** Collects the parameters of a statement that is composed of parts. */
export class Params {
  readonly values: SqlValue[] = [];

  /** Adds a value and returns its placeholder, such as `$3`. */
  add(value: SqlValue): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  /** Adds several values and returns their placeholders, separated by commas. */
  addAll(values: readonly SqlValue[]): string {
    return values.map((value) => this.add(value)).join(', ');
  }
}

/** Returns a condition that is true if the query returns a row. The query keeps its order, which may decide how it is planned. */
export function finds(query: string): string {
  return `(SELECT true FROM (${query} LIMIT 1) found) IS NOT NULL`;
}

/** Waits for an advisory lock, which is released when `tx` ends. Each number has one meaning in the whole application. */
export async function advisoryLock(tx: Tx, lock: number): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [lock]);
}

/** Waits for the advisory lock of a key. Two keys may share one lock. Numbers of keyed locks are separate from those of others. */
export async function keyedAdvisoryLock(tx: Tx, lock: number, key: string): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1::int, hashtext($2))', [lock, key]);
}

/** Values or SQL for columns of an entity's table. A column with `undefined` keeps its value, or gets its default. */
export type Values<E> = { readonly [K in keyof E]?: E[K] | (() => string) };

/** SQL for the time of the transaction, as the value of a column. */
export const NOW = () => 'platform_now()';

/** Inserts a row and returns it with generated values and defaults. */
export async function insertRow<E extends object>(db: Db, entity: EntityClass<E>, values: Values<E>): Promise<E> {
  const result = await db
    .createQueryBuilder()
    .insert()
    .into(entity)
    .values(values as QueryDeepPartialEntity<E>)
    .updateEntity(false)
    .callListeners(false)
    .returning('*')
    .execute();
  const [row] = result.raw as E[];
  if (row === undefined) throw new Error(`The insert into ${tableOf(entity)} returned no row`);
  return row;
}

/** Updates the rows that match all of `where` and returns them. */
export async function updateRows<E extends object>(
  db: Db,
  entity: EntityClass<E>,
  values: Values<E>,
  where: Partial<E>,
): Promise<E[]> {
  const result = await db
    .createQueryBuilder()
    .update(entity)
    .set(values as QueryDeepPartialEntity<E>)
    .where(where)
    .callListeners(false)
    .returning('*')
    .execute();
  return result.raw as E[];
}

/**
 * pg_trgm can look up only texts with a trigram. For other texts, PostgreSQL may read the whole index and then the whole
 * table, other tenants included, so their condition is written so that it cannot use the index.
 */
const HAS_TRIGRAM = /[\p{L}\p{N}]{3}/u;

/** The type of a filter's value. A union of texts takes any text, because the request's validation has checked it. */
type FilterValue<V> = V extends string ? string : V extends number ? number : V;

/**
 * Collects conditions and their parameters for a query whose shape depends on the request. `E` is the entity whose table
 * has the alias `t`.
 */
export class Conditions<E extends object = object> {
  readonly params: SqlValue[] = [];
  private readonly parts: string[] = [];

  /** Adds a condition in which each `?` is the placeholder of the next value. */
  add(sql: string, ...values: SqlValue[]): this {
    let next = 0;
    this.parts.push(
      sql.replaceAll('?', () => {
        this.params.push(values[next]);
        next += 1;
        return `$${this.params.length}`;
      }),
    );
    return this;
  }

  addIf(present: boolean, sql: string, ...values: SqlValue[]): this {
    return present ? this.add(sql, ...values) : this;
  }

  /** Requires that the column has the value, or one of the values. `undefined` adds no condition. */
  only<K extends keyof E & string>(
    column: K,
    filter: FilterValue<NonNullable<E[K]>> | readonly FilterValue<NonNullable<E[K]>>[] | undefined,
  ): this {
    if (filter === undefined) return this;
    return this.add(Array.isArray(filter) ? `t.${column} = ANY(?)` : `t.${column} = ?`, filter);
  }

  /** Requires that the record is current, or that it is closed. `undefined` adds no condition. */
  onlyEnabled(enabled: boolean | undefined): this {
    if (enabled === undefined) return this;
    return this.add(enabled ? `t.to_date = 'infinity'` : `t.to_date < 'infinity'`);
  }

  /** Requires that the column contains the text, ignoring case. */
  addContains(column: string, text: string): this {
    return this.add(`${HAS_TRIGRAM.test(text) ? column : `(${column} || '')`} ILIKE ?`, containsPattern(text));
  }

  get sql(): string {
    return this.parts.length === 0 ? 'TRUE' : this.parts.map((part) => `(${part})`).join(' AND ');
  }
}

/** Escapes the wildcards of a text for a LIKE pattern. */
export function literalPattern(text: string): string {
  return text.replaceAll(/[\\%_]/g, (character) => `\\${character}`);
}

/** Returns the LIKE pattern of texts that contain this one. */
export function containsPattern(text: string): string {
  return `%${literalPattern(text)}%`;
}
