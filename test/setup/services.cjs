const { spawn } = require('node:child_process');
const { once } = require('node:events');
const { createInterface } = require('node:readline');
const { join } = require('node:path');

/** @typedef {import('../../scripts/embedded/test-services.mjs').Need} Need */

/** The variables that lead tests to what they need. If they are set, nothing is prepared. @type {Record<Need, string[]>} */
const VARIABLES = {
  runtime: ['TEST_RUNTIME_JSON'],
  'spark-4': ['TEST_RUNTIME_JSON'],
  services: ['TEST_DATABASE_ADMIN_URL', 'TEST_REDIS_URL'],
  ldap: ['TEST_LDAP_SERVER_JAR'],
  kerberos: ['TEST_KERBEROS_SERVER'],
  'sql-client': ['TEST_SQL_CLIENT_PYTHON'],
  'python-sdk': ['TEST_PYTHON_SDK'],
  airflow: ['TEST_AIRFLOW_PYTHON'],
  dagster: ['TEST_DAGSTER_PYTHON'],
  stores: ['TEST_STORE_SERVERS'],
  minio: ['TEST_STORE_SERVERS'],
  clouds: ['TEST_EC2_URL'],
  // scripts/test.mjs sets it, and has already built.
  build: ['TEST_RUN_DIR'],
};

/** @type {import('node:child_process').ChildProcess[]} */
const keepers = [];

/**
 * Lets scripts/test-services.mjs prepare what the environment lacks, and adds it to the environment for the tests.
 * @param {...Need} needs
 */
async function prepare(...needs) {
  await prepareMissing(needs);
  // The folder belongs to this run of jest: two runs may share a project, when scripts/test.mjs runs it twice.
  process.env.TEST_PLATFORMS_DIR = join(process.env.TEST_RUN_DIR ?? '', `platforms-${process.pid}`);
}

/** @param {Need[]} needs */
async function prepareMissing(needs) {
  const missing = needs.filter((need) => VARIABLES[need].some((name) => !process.env[name]));
  if (missing.length === 0) return;
  const program = join(__dirname, '..', '..', 'scripts', 'test-services.mjs');
  // A process group of its own: a Ctrl-C at the terminal must not reach it before the tests have ended.
  const keeper = spawn(process.execPath, [program, ...missing], { detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
  keepers.push(keeper);
  const line = once(createInterface({ input: keeper.stdout }), 'line');
  const ended = once(keeper, 'exit').then(() => null);
  const answer = await Promise.race([line, ended]);
  if (answer === null) throw new Error(`Preparing what the tests need failed: ${missing.join(', ')}`);
  Object.assign(process.env, JSON.parse(String(answer[0])));
}

/** Stops what {@link prepare} started, in reverse order. */
async function end() {
  for (const keeper of keepers.splice(0).reverse()) {
    if (keeper.exitCode !== null || keeper.signalCode !== null) continue;
    const ended = once(keeper, 'exit');
    keeper.stdin?.end();
    await ended;
  }
}

module.exports = { prepare, end };
