import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { load as parse } from 'js-yaml';
import { createDataSource } from '../../src/database/data-source';
import { LOOKUP_NAMES, type LookupName, lookupTable } from '../../src/modules/foundation/reference-data/lookup-tables';
import {
  readReferenceDataFiles,
  type ReferenceDataFiles,
} from '../../src/modules/foundation/reference-data/reference-data-files';
import { seedReferenceData } from '../../src/modules/foundation/reference-data/seed-reference-data';
import { configure, createEmptyDatabase, type TestDatabase } from './harness/test-api';

type Row = Record<string, unknown>;

/** The name of each id in a version, by table. */
type Names = Record<LookupName, Record<string, string>>;

function namesOf(version: number): Names {
  return parse(readFileSync(join(__dirname, '..', 'fixtures', `reference-data-${version}.yaml`), 'utf8')) as Names;
}

const NAMING = ['name', 'machine_architecture_type', 'local_disk_bus_type', 'lang_name', 'spark_docker_image_name'];

/** Returns the text by which users recognize a row; rules have a provider instead of a name. */
function nameOf(row: Row): string {
  if ('distro_name' in row) return [row['distro_name'], row['distro_version']].join(' ');
  const column = NAMING.find((key) => row[key] !== undefined);
  return String(column === undefined ? (row['cloud_provider_id'] ?? row['git_provider_id']) : row[column]);
}

function idOf(table: LookupName, row: Row): string {
  return String(row[lookupTable(table).idColumn]);
}

// Real: PostgreSQL, the migrations, the files of this release. Left out: the API.
describe.each([
  { old: 1, grownSince: ['disk_types', 'availability_zones', 'machine_types', 'spark_infra_versions'] },
  { old: 3, grownSince: ['spark_infra_versions'] },
])('reference data of version $old', ({ old, grownSince }) => {
  const names = namesOf(old);
  const release = readReferenceDataFiles();
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    dataSource = await createDataSource(configure(database.url).database, 'test').initialize();
    await dataSource.runMigrations();
  });

  afterAll(async () => {
    await dataSource?.destroy();
    await database?.drop();
  });

  /** The rows of the old version. */
  function oldVersion(): ReferenceDataFiles {
    const rows = Object.fromEntries(
      LOOKUP_NAMES.map((table) => [
        table,
        (release.rows[table] as Row[]).filter((row) => names[table][idOf(table, row)] !== undefined),
      ]),
    ) as unknown as ReferenceDataFiles['rows'];
    return { version: old, hash: `version ${old}`, rows };
  }

  async function stored(table: LookupName): Promise<Map<string, Row>> {
    const rows = await dataSource.query<Row[]>(`SELECT xmin, * FROM ${table}`);
    return new Map(rows.map((row) => [idOf(table, row), row]));
  }

  it.each(LOOKUP_NAMES)('keeps the meaning of the ids of %s', (table) => {
    const now = Object.fromEntries((release.rows[table] as Row[]).map((row) => [idOf(table, row), nameOf(row)]));
    expect(now).toMatchObject(names[table]);
  });

  it('is extended by an upgrade, which changes no row in use', async () => {
    await seedReferenceData(dataSource, oldVersion());
    const before = new Map<LookupName, Map<string, Row>>();
    for (const table of LOOKUP_NAMES) before.set(table, await stored(table));
    expect(before.get('machine_types')?.size).toBe(Object.keys(names.machine_types).length);

    await expect(seedReferenceData(dataSource)).resolves.toBe(true);

    const grown: string[] = [];
    for (const table of LOOKUP_NAMES) {
      const after = await stored(table);
      for (const [id, row] of before.get(table) ?? []) expect(after.get(id)).toEqual(row);
      expect([...after.values()].filter((row) => row['to_date'] !== Infinity)).toEqual([]);
      expect(after.size).toBe(release.rows[table].length);
      if (after.size > (before.get(table)?.size ?? 0)) grown.push(table);
    }
    expect(grown.sort()).toEqual([...grownSince].sort());
    const versions = await dataSource.query('SELECT version FROM reference_data_versions ORDER BY 1');
    expect(versions).toEqual([{ version: old }, { version: 7 }]);
    await expect(seedReferenceData(dataSource)).resolves.toBe(false);
  });
});
