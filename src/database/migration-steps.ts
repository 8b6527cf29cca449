import type { QueryRunner } from 'typeorm';

/** Steps of migrations of tables that may be large. They need `transaction = false` and may be repeated. */

const PIECE = 5_000;

interface Backfill {
  table: string;
  /** Its primary key, one column. */
  key: string;
  /** The assignments of an UPDATE whose target is `t`. */
  set: string;
  /** Further tables and subqueries to take values from. */
  from?: string;
  where?: string;
}

/** Changes all rows in pieces, each in a transaction of its own, so that nobody waits for longer than one piece. */
export async function backfill(
  runner: QueryRunner,
  { table, key, set, from, where = 'TRUE' }: Backfill,
  size = PIECE,
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

/** Deletes rows in pieces, each in a transaction of its own. `where` is about `t`. */
export async function deleteInPieces(
  runner: QueryRunner,
  { table, key, where }: { table: string; key: string; where: string },
  size = PIECE,
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

/** Adds a constraint that is checked without keeping others from the table. */
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

/** The same for columns that have a value everywhere: PostgreSQL believes a valid constraint and reads no row. */
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

/** Makes an index, or makes it anew, while others read and write. `definition` follows the index' name. */
export async function createIndex(
  runner: QueryRunner,
  { name, unique = false, definition }: { name: string; unique?: boolean; definition: string },
): Promise<void> {
  const building = `${name}_building`;
  // Building waits for all open transactions, but nobody waits for it.
  const limit = (await runner.query('SHOW lock_timeout')) as { lock_timeout: string }[];
  await runner.query(`SELECT set_config('lock_timeout', '0', FALSE)`);
  try {
    // What an earlier try left is not valid.
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

/** From this migration on, processes of releases that do not have it must not use the schema. */
export async function requireThisRelease(runner: QueryRunner, migration: { name: string }): Promise<void> {
  await runner.query(`UPDATE schema_compatibility SET required_migration = $1`, [migration.name]);
}
