import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { eventually } from './eventually';
import { createDataSource } from '../../src/database/data-source';
import { seedReferenceData } from '../../src/modules/foundation/reference-data/seed-reference-data';

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** The sources of the template's content. */
const SOURCES = ['database/migrations', 'database/reference-data', 'modules/foundation/reference-data'].map((folder) =>
  join(__dirname, '..', '..', 'src', folder),
);
/** An arbitrary number that no other advisory lock in the maintenance database uses. */
const TEMPLATE_LOCK = 7_203_101;
/** Maximum time in milliseconds for another process to create the template. */
const TEMPLATE_LIMIT_MS = 60_000;

/**
 * Creates a database on the server of the test run, with schema and reference data: a copy of a template, which saves the
 * migrations. It has no accounts; the first process that starts on it creates one.
 */
export async function createTestDatabase(prefix = 'test'): Promise<TestDatabase> {
  return create(prefix, await ensureTemplate());
}

/** Creates an empty database, for tests of migrations and seeding. */
export async function createEmptyDatabase(prefix = 'test'): Promise<TestDatabase> {
  return create(prefix);
}

/** Returns a database like {@link createTestDatabase} that has a name but does not exist yet. */
export function plannedTestDatabase(): TestDatabase & { create(): Promise<void> } {
  const { create: createFrom, ...database } = planned('test');
  return { ...database, create: async () => createFrom(await ensureTemplate()) };
}

async function create(prefix: string, template?: string): Promise<TestDatabase> {
  const { create: createFrom, ...database } = planned(prefix);
  await createFrom(template);
  return database;
}

function planned(prefix: string) {
  const name = `${prefix}_${randomBytes(6).toString('hex')}`;
  return {
    url: urlOf(name),
    create: async (template?: string) => {
      // Without a crash to survive, copies of the template's files take half the time of its pages in the log.
      const source = template ? ` TEMPLATE ${template} STRATEGY FILE_COPY` : '';
      await onServer((server) => server.query(`CREATE DATABASE ${name}${source}`));
    },
    drop: () => onServer((server) => dropOn(server, name)),
  };
}

/** Waits for connections that are closing: a connection ended by force causes an error in the test that runs then. */
async function dropOn(server: Client, name: string): Promise<void> {
  const connections = 'SELECT 1 FROM pg_stat_activity WHERE datname = $1';
  const areGone = async () => (await server.query(connections, [name])).rowCount === 0;
  await eventually(areGone, { timeoutMs: 2_000, everyMs: 20 }).catch(() => undefined);
  await server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

let template: Promise<string> | undefined;

function ensureTemplate(): Promise<string> {
  return (template ??= onServer(async (server) => {
    // The name is a hash of the sources, because a server that outlives the run may have a template of older migrations.
    const name = `template_${hashOf(SOURCES)}`;
    await server.query(`SET lock_timeout = ${TEMPLATE_LIMIT_MS}`);
    await server.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    const { rowCount } = await server.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) await makeTemplate(server, name);
    return name;
  }));
}

async function makeTemplate(server: Client, name: string): Promise<void> {
  // The template has another name until it is complete.
  const unfinished = `${name}_unfinished`;
  await server.query(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`);
  await server.query(`CREATE DATABASE ${unfinished}`);
  const limits = { statementTimeoutMs: TEMPLATE_LIMIT_MS, migrationTimeoutMs: TEMPLATE_LIMIT_MS };
  const config = { url: urlOf(unfinished), poolSize: 2, ...limits, migrateOnStart: true };
  const dataSource = await createDataSource(config, 'template').initialize();
  try {
    await dataSource.runMigrations();
    await seedReferenceData(dataSource);
  } finally {
    await dataSource.destroy();
  }
  await server.query(`ALTER DATABASE ${unfinished} RENAME TO ${name}`);
}

function hashOf(folders: readonly string[]): string {
  const hash = createHash('sha256');
  for (const folder of folders) {
    for (const file of readdirSync(folder, { withFileTypes: true, recursive: true })) {
      if (file.isFile()) hash.update(file.name).update(readFileSync(join(file.parentPath, file.name)));
    }
  }
  return hash.digest('hex').slice(0, 16);
}

function urlOf(database: string): string {
  const url = new URL(adminUrl());
  url.pathname = `/${database}`;
  return url.href;
}

async function onServer<T>(work: (server: Client) => Promise<T>): Promise<T> {
  const server = new Client({ connectionString: adminUrl() });
  await server.connect();
  try {
    return await work(server);
  } finally {
    await server.end();
  }
}

function adminUrl(): string {
  const url = process.env['TEST_DATABASE_ADMIN_URL'];
  if (!url) throw new Error('TEST_DATABASE_ADMIN_URL is not set: jest.config.cjs prepares it');
  return url;
}
