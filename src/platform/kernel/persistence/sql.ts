import type { EntityManager } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity';
import { type EntityClass, tableOf } from './entity-table';

/** The open transaction of a mutation, or a plain connection for a read. */
export type Tx = EntityManager;

export type SqlValue = unknown;

/** Marks a value for a jsonb column; otherwise the driver would send an array as a PostgreSQL array. */
export function jsonb(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

export async function rows<T>(tx: Tx, sql: string, params: readonly SqlValue[] = []): Promise<T[]> {
  const result: unknown = await tx.query(sql, [...params]);
  return result as T[];
}

export async function firstRow<T>(tx: Tx, sql: string, params: readonly SqlValue[] = []): Promise<T | null> {
  return (await rows<T>(tx, sql, params))[0] ?? null;
}

/** Rows of an UPDATE, DELETE or INSERT with RETURNING. TypeORM wraps those of UPDATE and DELETE in a pair. */
export async function returning<T>(tx: Tx, sql: string, params: readonly SqlValue[] = []): Promise<T[]> {
  const result: unknown = await tx.query(sql, [...params]);
  if (Array.isArray(result) && result.length === 2 && Array.isArray(result[0]) && typeof result[1] === 'number') {
    return result[0] as T[];
  }
  return result as T[];
}

const PREPARED = '/* prepared */ ';

/**
 * Marks a statement that each connection has planned only once: a hot one whose planning takes longer than its work. It
 * must name its columns: a new one in a `*` would make the kept plan fail.
 */
export function prepared(sql: string): string {
  return PREPARED + sql;
}

export function isPrepared(sql: string): boolean {
  return sql.startsWith(PREPARED);
}

/** Parameters of a statement that is put together from parts. */
export class Params {
  readonly values: SqlValue[] = [];

  /** Adds a value and answers its place, such as `$3`. */
  add(value: SqlValue): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  /** The same for several, with commas between the places. */
  addAll(values: readonly SqlValue[]): string {
    return values.map((value) => this.add(value)).join(', ');
  }
}

/** Waits for an advisory lock, which is given back with the end of `tx`. Each number has one meaning in the whole application. */
export async function advisoryLock(tx: Tx, lock: number): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [lock]);
}

/** The same lock for each of many keys; two of them may share it. The keyed locks have numbers of their own. */
export async function keyedAdvisoryLock(tx: Tx, lock: number, key: string): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1::int, hashtext($2))', [lock, key]);
}

/** Values for columns of an entity's table, or SQL for them; what is `undefined` keeps its value or takes its default. */
export type Values<E> = { readonly [K in keyof E]?: E[K] | (() => string) };

/** The moment of the statement's transaction, as the value of a column. */
export const NOW = () => 'platform_now()';

/** Inserts a row and returns it with what the database added. */
export async function insertRow<E extends object>(tx: Tx, entity: EntityClass<E>, values: Values<E>): Promise<E> {
  const result = await tx
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

/** Changes the rows that match all of `where` and returns them. */
export async function updateRows<E extends object>(
  tx: Tx,
  entity: EntityClass<E>,
  values: Values<E>,
  where: Partial<E>,
): Promise<E[]> {
  const result = await tx
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
 * What pg_trgm can look up. For other texts PostgreSQL may read the whole index and then the whole table, other tenants
 * included, so an expression keeps the column from using the index.
 */
const HAS_TRIGRAM = /[\p{L}\p{N}]{3}/u;

/** A value that a list can be asked for by: any text for a union of texts, of which the request has checked it. */
type Asked<V> = V extends string ? string : V extends number ? number : V;

/**
 * Collects conditions and their parameters for a query whose shape depends on the request. `E` is the entity whose table is
 * read under the alias `t`.
 */
export class Conditions<E extends object = object> {
  readonly params: SqlValue[] = [];
  private readonly parts: string[] = [];

  /** Adds a condition; each `?` stands for the next value. */
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

  /** Adds that the column has the value, or one of the values; nothing if none is asked for. */
  only<K extends keyof E & string>(
    column: K,
    asked: Asked<NonNullable<E[K]>> | readonly Asked<NonNullable<E[K]>>[] | undefined,
  ): this {
    if (asked === undefined) return this;
    return this.add(Array.isArray(asked) ? `t.${column} = ANY(?)` : `t.${column} = ?`, asked);
  }

  /** Adds that the record is current, or that it is not; nothing if neither is asked for. */
  onlyEnabled(enabled: boolean | undefined): this {
    if (enabled === undefined) return this;
    return this.add(enabled ? `t.to_date = 'infinity'` : `t.to_date < 'infinity'`);
  }

  /** Adds the condition that a column contains the text, ignoring case. */
  addContains(column: string, text: string): this {
    return this.add(`${HAS_TRIGRAM.test(text) ? column : `(${column} || '')`} ILIKE ?`, containsPattern(text));
  }

  get sql(): string {
    return this.parts.length === 0 ? 'TRUE' : this.parts.map((part) => `(${part})`).join(' AND ');
  }
}

/** The text in a LIKE pattern, its wildcards taken literally. */
export function literalPattern(text: string): string {
  return text.replaceAll(/[\\%_]/g, (character) => `\\${character}`);
}

/** Pattern of a part match. */
export function containsPattern(text: string): string {
  return `%${literalPattern(text)}%`;
}
