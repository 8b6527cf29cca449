import type { EntityManager } from 'typeorm';
import { firstRow } from '../platform/kernel/persistence/sql';
import { StartError } from '../platform/kernel/process/start-error';
import { MIGRATIONS } from './migrations';
import type { SchemaCompatibility } from './schema-compatibility.entity';

const KNOWN: ReadonlySet<string> = new Set(MIGRATIONS.map(({ name }) => name));

/** The migration that this release lacks to be allowed to use the schema; null if it may. The schema has the table. */
export async function missingMigration(manager: EntityManager): Promise<string | null> {
  const sql = 'SELECT required_migration FROM schema_compatibility';
  const row = await firstRow<Pick<SchemaCompatibility, 'required_migration'>>(manager, sql);
  return row === null || KNOWN.has(row.required_migration) ? null : row.required_migration;
}

/** Throws when the schema, of whatever release, is not for this release any more. */
export async function assertSchemaUsable(manager: EntityManager): Promise<void> {
  const sql = `SELECT to_regclass('schema_compatibility') IS NOT NULL AS exists`;
  const lacking = (await firstRow<{ exists: boolean }>(manager, sql))?.exists ? await missingMigration(manager) : null;
  if (lacking === null) return;
  throw new StartError(
    'DATABASE.SCHEMA_NEWER',
    `The database belongs to a newer release: whoever uses it must know the migration ${lacking}, which this release does not.`,
    { remedy: 'Start that release or a later one, or restore the backup from before the migration.' },
  );
}
