import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load as parse } from 'js-yaml';
import { CLOUD_PROVIDER_ID, type CloudProviderName } from './reference-data';
import {
  LOOKUP_NAMES,
  type LookupColumn,
  type LookupName,
  type LookupRow,
  type LookupRows,
  lookupTable,
} from './lookup-tables';

const FOLDER = join(__dirname, '..', '..', '..', 'database', 'reference-data');

/** The reference data of a release: providers, zones, machine types and other lookups. */
export interface ReferenceDataFiles {
  /** Increases with every change, so that an older release never overwrites the data of a newer one. */
  version: number;
  /** SHA-256 of all files, hex. */
  hash: string;
  /** Parsed lazily: parsing takes 0.1 s, and at most starts the rows are already applied. */
  readonly rows: LookupRows;
}

/** Rows by provider name. Each row lists its values in the order of `columns`. */
interface ProviderRows {
  columns: string[];
  rows: Record<string, unknown[][]>;
}

type Values = Record<string, unknown>;

/** Reads the files of `src/database/reference-data`. `rows` throws if a row does not match its table. */
export function readReferenceDataFiles(): ReferenceDataFiles {
  const text = (file: string) => readFileSync(join(FOLDER, file), 'utf8');
  const [lookups, zones, machines] = [
    text('lookups.yaml'),
    text('availability-zones.yaml'),
    text('machine-types.yaml'),
  ];
  const [, version] = /^version: (\d+)$/m.exec(lookups) ?? [];
  if (version === undefined) throw new Error('The reference data in lookups.yaml has no version');
  const hash = createHash('sha256').update(lookups).update(zones).update(machines).digest('hex');
  let rows: LookupRows | undefined;
  return {
    version: Number(version),
    hash,
    get rows() {
      return (rows ??= rowsOf(lookups, zones, machines));
    },
  };
}

function rowsOf(lookups: string, zones: string, machines: string): LookupRows {
  const { version: _version, ...lists } = parse(lookups) as { version: number } & Record<string, Values[]>;
  const source: Record<string, Values[] | undefined> = {
    ...(lists as Record<string, Values[]>),
    spark_job_type_langs: withJobTypeIds(lists['spark_job_type_langs'] ?? [], lists['spark_job_types'] ?? []),
    availability_zones: withProviders((parse(zones) as { availability_zones: ProviderRows }).availability_zones),
  };
  source['machine_types'] = machineTypes(parse(machines) as MachineTypesFile, source);
  const unknown = Object.keys(source).find((name) => !LOOKUP_NAMES.includes(name as LookupName));
  if (unknown !== undefined) throw new Error(`The reference data contains the unknown table ${unknown}`);
  const rows = Object.fromEntries(LOOKUP_NAMES.map((name) => [name, checkedRows(name, source[name])])) as LookupRows;
  assertReferences(rows);
  return rows;
}

function withProviders({ columns, rows }: ProviderRows): Values[] {
  return Object.entries(rows).flatMap(([group, list]) => {
    // A group is named after its provider, for example `AWS`, or `AWS_zones` for a second list of AWS.
    const provider = group.split('_')[0] as CloudProviderName;
    return list.map((values) => ({
      ...Object.fromEntries(columns.map((column, index) => [column, values[index]])),
      cloud_provider_id: CLOUD_PROVIDER_ID[provider],
    }));
  });
}

function withJobTypeIds(langs: Values[], types: Values[]): Values[] {
  const ids = new Map(types.map((type) => [type['name'], type['spark_job_type_id']]));
  return langs.map(({ spark_job_type, ...lang }) => ({ ...lang, spark_job_type_id: ids.get(spark_job_type) }));
}

interface MachineTypesFile {
  machine_types: ProviderRows;
  cpu_families: {
    prefix: string;
    cpu_model: string[];
    cpu_min_frequency_GHz: string[];
    cpu_max_frequency_GHz: string[];
  }[];
}

interface MachineTypeSource {
  machine_type_id: number;
  cloud_provider_id: number;
  name: string;
  vCPUs: number;
  memory_GiB: number;
  architecture: string;
  category: string;
  gpu_model: string | null;
  gpus: number;
  gpu_memory: string | null;
  local_disk_size_GB: number | null;
  local_num_of_disks: number | null;
  local_disk_bus_type: string | null;
}

function machineTypes(file: MachineTypesFile, source: Record<string, Values[] | undefined>): Values[] {
  const idByName = (table: string, nameColumn: string, idColumn: string) => {
    const ids = new Map((source[table] ?? []).map((row) => [row[nameColumn], row[idColumn]]));
    return (name: string | null) => (name === null ? null : ids.get(name));
  };
  const type = 'machine_architecture_type';
  const architectureId = idByName(`${type}s`, type, `${type}_id`);
  const categoryId = idByName('machine_type_categories', 'name', 'machine_type_category_id');
  const busTypeId = idByName('local_disk_bus_types', 'local_disk_bus_type', 'local_disk_bus_type_id');
  return (withProviders(file.machine_types) as unknown as MachineTypeSource[]).map(
    (machine): LookupRow<'machine_types'> => {
      const family = file.cpu_families.find(({ prefix }) => machine.name.startsWith(prefix));
      return {
        machine_type_id: machine.machine_type_id,
        cloud_provider_id: machine.cloud_provider_id,
        name: machine.name,
        machine_architecture_type_id: architectureId(machine.architecture) as number,
        machine_type_category_id: categoryId(machine.category) as number,
        vcpus: machine.vCPUs,
        memory_gib: machine.memory_GiB,
        gpu_model: machine.gpu_model,
        gpus: machine.gpus,
        gpu_memory: machine.gpu_memory,
        cpu_model: family?.cpu_model ?? [],
        cpu_min_frequency_ghz: family?.cpu_min_frequency_GHz ?? [],
        cpu_max_frequency_ghz: family?.cpu_max_frequency_GHz ?? [],
        local_disk_size_gb: machine.local_disk_size_GB,
        local_num_of_disks: machine.local_num_of_disks,
        local_disk_bus_type_id: busTypeId(machine.local_disk_bus_type) as number | null,
        local_disk_throughput_mb: null,
        machine_price_ycu: computeUnits(machine.vCPUs, machine.memory_GiB),
        has_spot_instance_support: machine.cloud_provider_id !== CLOUD_PROVIDER_ID.OnPrem,
      };
    },
  );
}

/** Returns the price in platform compute units per hour, by the formula in `machine-types.yaml`. */
function computeUnits(vCpus: number, memoryGib: number): number {
  return Math.round((0.25 * vCpus + 0.1 * memoryGib) * 10_000) / 10_000;
}

const INFERRED_MARK = /(^|_)inferred$/;

function checkedRows(name: LookupName, source: Values[] | undefined): Values[] {
  if (!source) throw new Error(`The reference data has no table ${name}`);
  const { idColumn, columns } = lookupTable(name);
  const all: Record<string, LookupColumn> = { [idColumn]: { type: 'integer', nullable: false }, ...columns };
  const seen = new Set<unknown>();
  return source.map((values) => {
    const where = `${name} ${String(values[idColumn])}`;
    if (seen.has(values[idColumn])) throw new Error(`The reference data contains ${where} twice`);
    seen.add(values[idColumn]);
    const stray = Object.keys(values).find((key) => !(key in all) && !INFERRED_MARK.test(key));
    if (stray !== undefined) throw new Error(`The reference data row ${where} has the unknown column ${stray}`);
    return Object.fromEntries(
      Object.entries(all).map(([key, column]) => {
        const value = values[key] ?? null;
        if (!fits(column, value)) throw new Error(`The reference data row ${where} has no valid ${key}`);
        return [key, value];
      }),
    );
  });
}

function fits({ type, nullable }: LookupColumn, value: unknown): boolean {
  if (value === null) return nullable;
  switch (type) {
    case 'integer':
    case 'bigint':
      return Number.isSafeInteger(value);
    case 'double precision':
      return typeof value === 'number';
    case 'text':
      return typeof value === 'string';
    case 'boolean':
      return typeof value === 'boolean';
    case 'text[]':
      return Array.isArray(value) && value.every((item) => typeof item === 'string');
  }
}

function assertReferences(rows: LookupRows): void {
  const all = rows as Record<string, Values[]>;
  for (const name of LOOKUP_NAMES) {
    for (const [key, { references }] of Object.entries(lookupTable(name).columns)) {
      if (references === undefined) continue;
      const idColumn = lookupTable(references as LookupName).idColumn;
      const ids = new Set((all[references] ?? []).map((row) => row[idColumn]));
      const dangling = (all[name] ?? []).find((row) => row[key] !== null && !ids.has(row[key]));
      if (dangling)
        throw new Error(
          `A row of ${name} in the reference data refers to a missing row of ${references}: ${String(dangling[key])}`,
        );
    }
  }
}
