import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Config } from './config/config';
import { readDatabaseConfig } from './config/database.config';
import { EnvReader } from './config/env-reader';
import { createDataSource } from './database/data-source';
import { prepareDatabase } from './database/prepare-database';
import { createLogger } from './platform/kernel/logging/logger';
import { failProcess } from './platform/kernel/process/fail-process';

const USAGE = `Usage: migrate [option]
  (none)              migrate the schema, then update the reference data and create the first administrator
  --check-drift       apply the migrations and fail if the entities differ from the schema
  --generate <name>   write a migration that adds what the entities have and the schema lacks (source tree only)
`;

/** Runs a schema command of operators or CI. `--check-drift` and `--generate` need only the database variables. */
async function main(args: readonly string[]): Promise<number> {
  const [option, name] = args;
  if (option === undefined) return prepare();
  if (option === '--check-drift') return checkDrift();
  if (option === '--generate' && name !== undefined && /^[A-Z][A-Za-z0-9]+$/.test(name)) return generate(name);
  process.stderr.write(USAGE);
  return 2;
}

async function prepare(): Promise<number> {
  const config = Config.load();
  const dataSource = await createDataSource(config.database, 'migrate').initialize();
  await prepareDatabase(dataSource, config, createLogger('migrate', config.product.logLevel));
  await dataSource.destroy();
  return 0;
}

async function pendingSql(): Promise<{ up: string[]; down: string[] }> {
  const env = new EnvReader();
  const config = readDatabaseConfig(env);
  env.assertValid();
  const dataSource = await createDataSource(config, 'migrate').initialize();
  await dataSource.runMigrations();
  const log = await dataSource.driver.createSchemaBuilder().log();
  await dataSource.destroy();
  return {
    up: log.upQueries.map((entry) => entry.query),
    down: log.downQueries.map((entry) => entry.query).reverse(),
  };
}

async function checkDrift(): Promise<number> {
  const { up } = await pendingSql();
  if (up.length === 0) return 0;
  process.stderr.write(
    `The entities differ from the migrations. Missing:\n${up.map((sql) => `  ${sql};`).join('\n')}\n`,
  );
  return 1;
}

async function generate(name: string): Promise<number> {
  const { up, down } = await pendingSql();
  if (up.length === 0) {
    process.stderr.write('Nothing to generate: the schema already has all that the entities declare.\n');
    return 1;
  }
  const timestamp = Date.now();
  const statements = (queries: string[]) =>
    queries.map((sql) => `    await runner.query(\`${withTrigrams(sql).replaceAll('`', '\\`')}\`);`).join('\n');
  const text = `import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ${name}${timestamp} implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
${statements(up)}
  }

  async down(runner: QueryRunner): Promise<void> {
${statements(down)}
  }
}
`;
  const file = join(
    'src',
    'database',
    'migrations',
    `${timestamp}-${name.replaceAll(/(?<!^)([A-Z])/g, '-$1').toLowerCase()}.ts`,
  );
  writeFileSync(file, text);
  process.stdout.write(`${file}\nReview it before you commit it.\n`);
  return 0;
}

/** TypeORM cannot express the operator class of a `PartOfNameIndex`. */
function withTrigrams(sql: string): string {
  return sql.replace(/(?<=^CREATE INDEX "\w+_name_part" ON "\w+" USING gin \("\w+")(?=\))/, ' gin_trgm_ops');
}

main(process.argv.slice(2)).then((status) => process.exit(status), failProcess);
