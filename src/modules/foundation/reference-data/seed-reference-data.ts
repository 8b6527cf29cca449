import type { DataSource } from 'typeorm';
import { notify } from '../../../platform/kernel/notifications/pg-listener';
import type { ReferenceDataVersion } from './entities/reference-data-version.entity';
import { LOOKUP_NAMES, type LookupName, lookupTable } from './lookup-tables';
import { readReferenceDataFiles, type ReferenceDataFiles } from './reference-data-files';
import { ReferenceDataRepository } from './reference-data.repository';
import { inTransaction } from '../../../platform/kernel/persistence/sql';

/**
 * Writes the release's reference data to the lookup tables. Rows keep their ids. A row that the release no longer
 * contains is closed, but stays for records that refer to it. Does nothing if the data is already applied or the
 * database holds the data of a newer release.
 * @returns true if the data was written
 */
export async function seedReferenceData(dataSource: DataSource, files = readReferenceDataFiles()): Promise<boolean> {
  const repository = new ReferenceDataRepository();
  return inTransaction(dataSource, async (tx) => {
    await repository.lock(tx);
    if (isCurrent(await repository.lastApplied(tx), files)) return false;
    // Insert in dependency order, and close in the reverse order.
    for (const name of [...LOOKUP_NAMES].reverse()) await repository.closeOthers(tx, name, idsOf(name, files));
    for (const name of LOOKUP_NAMES) await repository.upsert(tx, name, files.rows[name]);
    await repository.recordApplied(tx, files);
    await notify(tx, 'reference_data');
    return true;
  });
}

function isCurrent(applied: ReferenceDataVersion | null, files: ReferenceDataFiles): boolean {
  return applied !== null && (applied.version > files.version || applied.content_hash === files.hash);
}

function idsOf(name: LookupName, files: ReferenceDataFiles): unknown[] {
  const idColumn = lookupTable(name).idColumn;
  return files.rows[name].map((row) => (row as Record<string, unknown>)[idColumn]);
}
