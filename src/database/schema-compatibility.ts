import type { EntityManager } from 'typeorm';
import { firstRow } from '../platform/kernel/persistence/sql';
import { StartError } from '../platform/kernel/process/start-error';
import { MIGRATIONS } from './migrations';
import type { SchemaCompatibility } from './schema-compatibility.entity';

const KNOWN: ReadonlySet<string> = new Set(MIGRATIONS.map(({ name }) => name));

/** Returns the migration that this release must have but lacks to use the schema; null if there is none. The schema must have the table. */
export async function missingMigration(manager: EntityManager): Promise<string | null> {
  const sql = 'SELECT required_migration FROM schema_compatibility';
  const row = await firstRow<Pick<SchemaCompatibility, 'required_migration'>>(manager, sql);
  return row === null || KNOWN.has(row.required_migration) ? null : row.required_migration;
}

/** Throws if the schema, of any release, must not be used by this release. */
export async function assertSchemaUsable(manager: EntityManager): Promise<void> {
  const sql = `SELECT to_regclass('schema_compatibility') IS NOT NULL AS exists`;
  const missing = (await firstRow<{ exists: boolean }>(manager, sql))?.exists ? await missingMigration(manager) : null;
  if (missing === null) return;
  throw new StartError(
    'DATABASE.SCHEMA_NEWER',
    `The database belongs to a newer release: it requires the migration ${missing}, which this release does not have.`,
    { remedy: 'Start that release or a later one, or restore the backup from before the migration.' },
  );
}
