import type { QueryRunner } from 'typeorm';

/** Steps of migrations for tables that may be large. They need `transaction = false` and may be repeated. */

const BATCH_ROWS = 5_000;

interface Backfill {
  table: string;
  /** Column of the primary key. */
  key: string;
  /** Assignments of an UPDATE of the table `t`. */
  set: string;
  /** Further tables and subqueries with values. */
  from?: string;
  where?: string;
}

/** Updates all rows in batches, each in a separate transaction, so that others wait at most for one batch. */
export async function backfill(
  runner: QueryRunner,
  { table, key, set, from, where = 'TRUE' }: Backfill,
  size = BATCH_ROWS,
): Promise<void> {
  let last: unknown = null;
  do {
    const after = last === null ? 'TRUE' : `${key} > $1`;
    const [piece] = (await runner.query(
      `WITH piece AS (SELECT ${key} FROM ${table} WHERE ${after} ORDER BY ${key} LIMIT ${size}),
         changed AS (UPDATE ${table} t SET ${set} FROM piece p${from === undefined ? '' : `, ${from}`} WHERE t.${key} = p.${key} AND (${where}))
       SELECT ${key} AS last FROM piece ORDER BY ${key} DESC LIMIT 1`,
      last === null ? [] : [last],
    )) as { last: unknown }[];
    last = piece?.last ?? null;
  } while (last !== null);
}

/** Deletes rows in batches, each in a separate transaction. `where` is a condition on `t`. */
export async function deleteInPieces(
  runner: QueryRunner,
  { table, key, where }: { table: string; key: string; where: string },
  size = BATCH_ROWS,
): Promise<void> {
  let last: unknown = null;
  do {
    const after = last === null ? 'TRUE' : `${key} > $1`;
    const [piece] = (await runner.query(
      `WITH piece AS (SELECT ${key} FROM ${table} WHERE ${after} ORDER BY ${key} LIMIT ${size}),
         deleted AS (DELETE FROM ${table} t USING piece p WHERE t.${key} = p.${key} AND (${where}))
       SELECT ${key} AS last FROM piece ORDER BY ${key} DESC LIMIT 1`,
      last === null ? [] : [last],
    )) as { last: unknown }[];
    last = piece?.last ?? null;
  } while (last !== null);
}

/** Adds a constraint, and validates it without blocking the table. */
export async function addConstraint(
  runner: QueryRunner,
  table: string,
  name: string,
  definition: string,
): Promise<void> {
  await runner.query(`ALTER TABLE "${table}" DROP CONSTRAINT IF EXISTS "${name}"`);
  await runner.query(`ALTER TABLE "${table}" ADD CONSTRAINT "${name}" ${definition} NOT VALID`);
  await runner.query(`ALTER TABLE "${table}" VALIDATE CONSTRAINT "${name}"`);
}

/** Makes columns NOT NULL that have a value in all rows. PostgreSQL trusts a valid constraint and reads no row for the change. */
export async function setNotNull(runner: QueryRunner, table: string, columns: readonly string[]): Promise<void> {
  const check = `ck_${table}_not_null`;
  await addConstraint(
    runner,
    table,
    check,
    `CHECK (${columns.map((column) => `"${column}" IS NOT NULL`).join(' AND ')})`,
  );
  const changes = columns.map((column) => `ALTER COLUMN "${column}" SET NOT NULL`).join(', ');
  await runner.query(`ALTER TABLE "${table}" ${changes}, DROP CONSTRAINT "${check}"`);
}

/** Creates or replaces an index without blocking reads and writes. `definition` follows the name of the index. */
export async function createIndex(
  runner: QueryRunner,
  { name, unique = false, definition }: { name: string; unique?: boolean; definition: string },
): Promise<void> {
  const building = `${name}_building`;
  // Building the index waits for all open transactions, but blocks none, so it needs no lock timeout.
  const limit = (await runner.query('SHOW lock_timeout')) as { lock_timeout: string }[];
  await runner.query(`SELECT set_config('lock_timeout', '0', FALSE)`);
  try {
    // An earlier attempt may have left an invalid index.
    await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS "${building}"`);
    await runner.query(`CREATE ${unique ? 'UNIQUE ' : ''}INDEX CONCURRENTLY "${building}" ${definition}`);
  } finally {
    await runner.query(`SELECT set_config('lock_timeout', $1, FALSE)`, [limit[0]?.lock_timeout ?? '0']);
  }
  await runner.startTransaction();
  try {
    await runner.query(`DROP INDEX IF EXISTS "${name}"`);
    await runner.query(`ALTER INDEX "${building}" RENAME TO "${name}"`);
    await runner.commitTransaction();
  } catch (error) {
    await runner.rollbackTransaction();
    throw error;
  }
}

/** Keeps releases that do not have this migration from using the schema. */
export async function requireThisRelease(runner: QueryRunner, migration: { name: string }): Promise<void> {
  await runner.query(`UPDATE schema_compatibility SET required_migration = $1`, [migration.name]);
}
