import type { DataSource } from 'typeorm';
import { firstRow, type Tx } from '../../platform/persistence/sql';
import { notify } from '../../platform/wakeups/pg-listener';
import { LOOKUP_NAMES, type LookupName, lookupTable } from './lookup-tables';
import { readReferenceDataFiles, type ReferenceDataFiles } from './reference-data-files';

/** Any number that no other advisory lock of the application uses. */
const SEED_LOCK = 7_203_101;

/**
 * Brings the lookup tables to the release's reference data. Rows keep their ids; a row that the release no longer
 * knows ends its validity and stays for the records that refer to it. Does nothing when the data is applied already
 * or the database holds that of a newer release.
 * @returns whether anything was written
 */
export async function seedReferenceData(dataSource: DataSource, files = readReferenceDataFiles()): Promise<boolean> {
  return dataSource.transaction(async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock($1)', [SEED_LOCK]);
    if (await isCurrent(tx, files)) return false;
    // Tables stand after those they refer to: rows appear in that order and end in the opposite one.
    for (const name of [...LOOKUP_NAMES].reverse()) await closeMissing(tx, name, idsOf(name, files));
    for (const name of LOOKUP_NAMES) await upsert(tx, name, files.rows[name]);
    await tx.query('INSERT INTO reference_data_versions (version, content_hash) VALUES ($1, $2)', [
      files.version,
      files.hash,
    ]);
    await notify(tx, 'reference_data');
    return true;
  });
}

async function isCurrent(tx: Tx, files: ReferenceDataFiles): Promise<boolean> {
  const applied = await firstRow<{ version: number; content_hash: string }>(
    tx,
    'SELECT version, content_hash FROM reference_data_versions ORDER BY reference_data_version_id DESC LIMIT 1',
  );
  return applied !== null && (applied.version > files.version || applied.content_hash === files.hash);
}

function idsOf(name: LookupName, files: ReferenceDataFiles): unknown[] {
  const idColumn = lookupTable(name).idColumn;
  return files.rows[name].map((row) => (row as Record<string, unknown>)[idColumn]);
}

async function closeMissing(tx: Tx, name: LookupName, ids: unknown[]): Promise<void> {
  const { idColumn } = lookupTable(name);
  await tx.query(
    `UPDATE ${name} SET to_date = platform_now() WHERE to_date = 'infinity' AND NOT (${idColumn} = ANY($1::integer[]))`,
    [ids],
  );
}

async function upsert(tx: Tx, name: LookupName, rows: readonly object[]): Promise<void> {
  const { idColumn, columns } = lookupTable(name);
  const names = Object.keys(columns);
  const typed = [`${idColumn} integer`, ...Object.entries(columns).map(([key, { type }]) => `${key} ${type}`)];
  const tuple = (alias: string) => names.map((key) => `${alias}.${key}`).join(', ');
  await tx.query(
    `INSERT INTO ${name} AS t (${[idColumn, ...names].join(', ')})
     SELECT ${[idColumn, ...names].join(', ')} FROM jsonb_to_recordset($1::jsonb) AS r(${typed.join(', ')})
     ON CONFLICT (${idColumn}) DO UPDATE
       SET ${names.map((key) => `${key} = excluded.${key}`).join(', ')}, to_date = 'infinity'
     WHERE (${tuple('t')}) IS DISTINCT FROM (${tuple('excluded')}) OR t.to_date <> 'infinity'`,
    [JSON.stringify(rows)],
  );
}
