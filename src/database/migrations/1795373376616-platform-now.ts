import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The one function that SQL takes the time from, so that a test can set its clock. */
export class PlatformNow1795373376616 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Inlined by the planner: it costs what now() does, and an index is used as with now().
    await runner.query(
      `CREATE FUNCTION platform_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT now()'`,
    );
    // For histories, which go on within a transaction.
    await runner.query(
      `CREATE FUNCTION platform_clock() RETURNS timestamptz LANGUAGE sql VOLATILE
       AS 'SELECT platform_now() + (clock_timestamp() - now())'`,
    );
    await changeDefaults(runner, 'now()', 'platform_now()');
    await changeDefaults(runner, 'clock_timestamp()', 'platform_clock()');
  }

  async down(runner: QueryRunner): Promise<void> {
    await changeDefaults(runner, 'platform_clock()', 'clock_timestamp()');
    await changeDefaults(runner, 'platform_now()', 'now()');
    await runner.query('DROP FUNCTION platform_clock()');
    await runner.query('DROP FUNCTION platform_now()');
  }
}

async function changeDefaults(runner: QueryRunner, from: string, to: string): Promise<void> {
  const columns = (await runner.query(
    `SELECT table_name, column_name FROM information_schema.columns
     WHERE table_schema = current_schema() AND column_default = $1 ORDER BY table_name, column_name`,
    [from],
  )) as { table_name: string; column_name: string }[];
  for (const { table_name: table, column_name: column } of columns) {
    await runner.query(`ALTER TABLE "${table}" ALTER COLUMN "${column}" SET DEFAULT ${to}`);
  }
}
