import { Injectable } from '@nestjs/common';
import { advisoryLock, insertRow, rows, type Db, type Tx } from '../../../platform/kernel/persistence/sql';
import { ReferenceDataVersion } from './entities/reference-data-version.entity';
import type { DatedRows } from './lookup-snapshot';
import { LOOKUP_NAMES, type LookupName, lookupTable } from './lookup-tables';

/** Key of the advisory lock. It must differ from all other advisory locks of the application. */
const SEED_LOCK = 7_203_101;

/** Reads all tables in one statement, so that the result is consistent. */
const ALL_ROWS = LOOKUP_NAMES.map((name) => `SELECT '${name}' AS lookup, to_json(t) AS row FROM ${name} t`).join(
  ' UNION ALL ',
);

interface StoredRow {
  lookup: LookupName;
  row: { from_date: string; to_date: string } & Record<string, unknown>;
}

/** Reads the lookup tables and writes the reference data of a release. */
@Injectable()
export class ReferenceDataRepository {
  /** Returns all rows of all tables, each table ordered by id. */
  async all(db: Db): Promise<DatedRows> {
    const lists = Object.fromEntries(LOOKUP_NAMES.map((name) => [name, [] as Record<string, unknown>[]]));
    for (const { lookup, row } of await rows<StoredRow>(db, ALL_ROWS)) {
      const { from_date, to_date, ...columns } = row;
      lists[lookup]?.push({ ...columns, from_date: new Date(from_date).toISOString(), to_date });
    }
    for (const name of LOOKUP_NAMES) {
      const { idColumn } = lookupTable(name);
      lists[name]?.sort((a, b) => Number(a[idColumn]) - Number(b[idColumn]));
    }
    return lists as unknown as DatedRows;
  }

  /** Locks out other writers of reference data until `tx` ends. */
  async lock(tx: Tx): Promise<void> {
    await advisoryLock(tx, SEED_LOCK);
  }

  /** Returns the version that was applied last, or null. */
  async lastApplied(tx: Tx): Promise<ReferenceDataVersion | null> {
    const [last] = await tx.find(ReferenceDataVersion, { order: { reference_data_version_id: 'DESC' }, take: 1 });
    return last ?? null;
  }

  async recordApplied(tx: Tx, { version, hash }: { version: number; hash: string }): Promise<void> {
    await insertRow(tx, ReferenceDataVersion, { version, content_hash: hash });
  }

  /** Ends the validity of rows whose id is not in `ids`. */
  async closeOthers(tx: Tx, name: LookupName, ids: readonly unknown[]): Promise<void> {
    const { idColumn } = lookupTable(name);
    await tx.query(
      `UPDATE ${name} SET to_date = platform_now() WHERE to_date = 'infinity' AND NOT (${idColumn} = ANY($1::integer[]))`,
      [ids],
    );
  }

  /** Inserts or updates the rows and makes them current. Rows without a change are not written. */
  async upsert(tx: Tx, name: LookupName, values: readonly object[]): Promise<void> {
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
      [JSON.stringify(values)],
    );
  }
}
