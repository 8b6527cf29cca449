import type { DataSource } from 'typeorm';

/**
 * Sets the clock of a test's own database: to a moment, at which it stands still, or ahead by an interval (`2 hours`), from
 * where it goes on. What SQL takes for the time follows at once, in open connections, too.
 */
export async function setClock(dataSource: DataSource, to: Date | string): Promise<void> {
  const now = to instanceof Date ? `timestamptz '${to.toISOString()}'` : `now() + interval '${to}'`;
  await dataSource.query(
    `CREATE OR REPLACE FUNCTION platform_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$SELECT ${now}$$`,
  );
}

/** Lets a clock that stands still do so within a transaction, too: what histories take their times from. */
export async function holdClock(dataSource: DataSource): Promise<void> {
  await dataSource.query(
    'CREATE OR REPLACE FUNCTION platform_clock() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$SELECT platform_now()$$',
  );
}
