import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { classArchiveOptions } from '../../libs/spark/class-archive';
import { columnsOf } from '../../libs/table-schemas/columns-of';
import { ddlOf } from '../../libs/table-schemas/table-ddl';
import type { TableColumns } from '../../libs/table-schemas/table-columns';
import type { TableFiles } from '../../libs/table-schemas/table-files';
import { TableSchemaError } from '../../libs/table-schemas/table-schema-error';
import { type HiveTable, tableOfHive } from '../fakes/tables/hive-table';
import { readRuntime } from './harness/platform';

interface Description {
  schema: { fields: { name: string; type: unknown }[] };
  told: unknown[];
}

interface Made {
  before: Description;
  after?: Description;
  error?: string;
}

const TABLES = [
  'hive_parquet',
  'hive_text',
  'hive_bucketed',
  'hive_serde',
  'spark_parquet',
  'spark_json',
  'spark_wide',
  'view_plain',
  'delta_plain',
  'delta_mapped',
  'delta_external',
  'delta_checkpoint',
  'delta_checkpoint2',
  'ice_plain',
  'ice_gzip',
];

const folder = mkdtempSync(join(tmpdir(), 'table-ddl-'));
let spark: ChildProcess;
let kept: Record<string, HiveTable>;
const found: Record<string, TableColumns> = {};
const statements: Record<string, string> = {};
let made: Record<string, Made>;

beforeAll(async () => {
  spark = startSpark();
  const ended = once(spark, 'exit');
  await saidKept();
  kept = readJson('kept.json');
  for (const name of TABLES) {
    const table = tableOfHive(kept[name]!);
    found[name] = await columnsOf(table, LOCAL_FILES, AbortSignal.timeout(60_000));
    statements[name] = ddlOf(table, found[name]);
  }
  writeFileSync(join(folder, 'ddl.json'), JSON.stringify(statements));
  spark.stdin!.end('\n');
  await ended;
  if (spark.exitCode !== 0) throw new Error(readFileSync(join(folder, 'stderr'), 'utf8').slice(-4000));
  made = readJson('made.json');
});

afterAll(async () => {
  if (spark.exitCode === null && spark.signalCode === null) {
    const ended = once(spark, 'exit');
    spark.kill('SIGKILL');
    await ended;
  }
  rmSync(folder, { recursive: true });
});

it.each(TABLES)('the DDL of %s, run after a DROP, creates the same table', (name) => {
  const { before, after, error } = made[name]!;
  expect([error, statements[name]]).toEqual([undefined, statements[name]]);
  expect(after).toEqual(before);
});

it.each(TABLES)('the columns of %s equal those of Spark', (name) => {
  const shown = made[name]!.before.told as [string, string, string | null][];
  const end = shown.findIndex(([column]) => column === '' || column.startsWith('#'));
  const columns = found[name]!.columns.map((column) => [
    column.name,
    inItsWords(name, column.typeText),
    column.comment,
  ]);
  expect(columns).toEqual(shown.slice(0, end).map(([column, type, comment]) => [column, type, comment]));
});

it('the schema of a wide table is stored in parts', () => {
  expect(Object.keys(kept['spark_wide']!.parameters)).toContain('spark.sql.sources.schema.part.2');
});

/** Returns the type as `DESCRIBE` shows it: without quotes around names, and without lengths of strings in Delta tables. */
function inItsWords(table: string, typeText: string): string {
  const plain = typeText.replace(/`((?:[^`]|``)*)`/g, (_all, name: string) => name.replaceAll('``', '`'));
  return table.startsWith('delta_') ? plain.replace(/^varchar\(\d+\)$/, 'string') : plain;
}

/** Starts Spark with its own metastore in memory; packages are cached beside the runtime. */
function startSpark(): ChildProcess {
  const { python, javaHome, sparkHome, classArchive } = readRuntime();
  const repository = process.env['MAVEN_REPOSITORY_URL'];
  const script = join(__dirname, 'harness/tables.py');
  return spawn(python, [script, folder, join(dirname(javaHome), 'ivy'), ...(repository ? [repository] : [])], {
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      JAVA_HOME: javaHome,
      SPARK_HOME: sparkHome,
      // PySpark and Py4J are installed beside Spark, and not in the environment of the interpreter.
      PYTHONPATH: dirname(sparkHome),
      SPARK_LOCAL_IP: '127.0.0.1',
      SPARK_SUBMIT_OPTS: classArchiveOptions(classArchive).join(' '),
    },
    stdio: ['pipe', 'pipe', openSync(join(folder, 'stderr'), 'w')],
  });
}

/** Waits for the line "kept", which follows Ivy's report. */
async function saidKept(): Promise<void> {
  for await (const line of createInterface(spark.stdout!)) if (line === 'kept') return;
  throw new Error(`Spark ended early: ${readFileSync(join(folder, 'stderr'), 'utf8').slice(-4000)}`);
}

function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(join(folder, name), 'utf8')) as T;
}

const pathOf = (uri: string) => uri.replace(/^file:(?:\/\/)?/, '');

function present<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new TableSchemaError('missing', 'There is no such file.', { cause: error });
  }
}

const LOCAL_FILES: TableFiles = {
  read: async (uri) => present(() => readFileSync(pathOf(uri))),
  readPart: async (uri, { start, end }) => present(() => readFileSync(pathOf(uri)).subarray(start, end)),
  sizeOf: async (uri) => present(() => statSync(pathOf(uri)).size),
  list: async (uri) => readdirSync(pathOf(uri)).map((name) => ({ name, sizeBytes: 0 })),
};
