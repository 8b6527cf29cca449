import type { DataSource } from 'typeorm';
import { notify } from '../../../platform/kernel/notifications/pg-listener';
import type { ReferenceDataVersion } from './entities/reference-data-version.entity';
import { LOOKUP_NAMES, type LookupName, lookupTable } from './lookup-tables';
import { readReferenceDataFiles, type ReferenceDataFiles } from './reference-data-files';
import { ReferenceDataRepository } from './reference-data.repository';

/**
 * Brings the lookup tables to the release's reference data. Rows keep their ids; a row that the release no longer
 * knows ends its validity and stays for the records that refer to it. Does nothing when the data is applied already
 * or the database holds that of a newer release.
 * @returns whether anything was written
 */
export async function seedReferenceData(dataSource: DataSource, files = readReferenceDataFiles()): Promise<boolean> {
  const repository = new ReferenceDataRepository();
  return dataSource.transaction(async (tx) => {
    await repository.lock(tx);
    if (isCurrent(await repository.applied(tx), files)) return false;
    // Tables stand after those they refer to: rows appear in that order and end in the opposite one.
    for (const name of [...LOOKUP_NAMES].reverse()) await repository.closeOthers(tx, name, idsOf(name, files));
    for (const name of LOOKUP_NAMES) await repository.upsert(tx, name, files.rows[name]);
    await repository.noteApplied(tx, files);
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
