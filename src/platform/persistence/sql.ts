import type { EntityManager } from 'typeorm';

/** The open transaction of a mutation, or a plain connection for a read. */
export type Tx = Pick<EntityManager, 'query'>;

export type SqlValue = unknown;

/** Marks a value for a jsonb column; the driver would send an array as a PostgreSQL array otherwise. */
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

/** `INSERT … RETURNING *`; keys are column names and come from code, never from a request. */
export async function insertRow<T>(tx: Tx, table: string, values: Readonly<Record<string, SqlValue>>): Promise<T> {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  const columns = entries.map(([column]) => `"${column}"`).join(', ');
  const places = entries.map((_, index) => `$${index + 1}`).join(', ');
  const sql =
    entries.length > 0 ? `INSERT INTO ${table} (${columns}) VALUES (${places})` : `INSERT INTO ${table} DEFAULT VALUES`;
  const [row] = await returning<T>(
    tx,
    `${sql} RETURNING *`,
    entries.map(([, value]) => value),
  );
  if (row === undefined) throw new Error(`INSERT INTO ${table} returned no row`);
  return row;
}

/** `UPDATE … WHERE (all of where) RETURNING *`; keys are column names and come from code. */
export async function updateRows<T>(
  tx: Tx,
  table: string,
  values: Readonly<Record<string, SqlValue>>,
  where: Readonly<Record<string, SqlValue>>,
): Promise<T[]> {
  const set = Object.entries(values).filter(([, value]) => value !== undefined);
  const conditions = Object.entries(where);
  const setSql = set.map(([column], index) => `"${column}" = $${index + 1}`);
  const whereSql = conditions.map(([column], index) => `"${column}" = $${set.length + index + 1}`);
  const sql = `UPDATE ${table} SET ${setSql.join(', ')} WHERE ${whereSql.join(' AND ')} RETURNING *`;
  return returning<T>(
    tx,
    sql,
    [...set, ...conditions].map(([, value]) => value),
  );
}

/**
 * What pg_trgm can look up. For a text without it PostgreSQL may read the whole index and then the whole table, other
 * tenants included, so that the column is kept from the index by an expression.
 */
const HAS_TRIGRAM = /[\p{L}\p{N}]{3}/u;

/** Collects conditions and their parameters for a query whose shape depends on the request. */
export class Conditions {
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

  /** Adds that a column contains the text, whatever the case of its letters. */
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
function containsPattern(text: string): string {
  return `%${literalPattern(text)}%`;
}
