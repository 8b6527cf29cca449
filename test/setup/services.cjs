const { spawn } = require('node:child_process');
const { once } = require('node:events');
const { createInterface } = require('node:readline');
const { join } = require('node:path');

/** @typedef {import('../../scripts/embedded/test-services.mjs').Need} Need */

/** The variables by which tests find what they need; set, it is not prepared. @type {Record<Need, string[]>} */
const VARIABLES = {
  runtime: ['TEST_RUNTIME_JSON'],
  services: ['TEST_DATABASE_ADMIN_URL', 'TEST_REDIS_URL'],
  ldap: ['TEST_LDAP_SERVER_JAR'],
  kerberos: ['TEST_KERBEROS_SERVER'],
  'sql-client': ['TEST_SQL_CLIENT_PYTHON'],
  stores: ['TEST_STORE_SERVERS'],
  minio: ['TEST_STORE_SERVERS'],
  clouds: ['TEST_EC2_URL'],
  // A run of scripts/test.mjs has built already.
  build: ['TEST_RUN_DIR'],
};

/** @type {import('node:child_process').ChildProcess[]} */
const keepers = [];

/**
 * Has what the environment does not name prepared by scripts/test-services.mjs, and puts it there for the tests.
 * @param {...Need} needs
 */
async function prepare(...needs) {
  await prepareMissing(needs);
  // Of this run of jest: two may share a folder, and a project, when scripts/test.mjs runs it twice.
  process.env.TEST_PLATFORMS_DIR = join(process.env.TEST_RUN_DIR ?? '', `platforms-${process.pid}`);
}

/** @param {Need[]} needs */
async function prepareMissing(needs) {
  const missing = needs.filter((need) => VARIABLES[need].some((name) => !process.env[name]));
  if (missing.length === 0) return;
  const program = join(__dirname, '..', '..', 'scripts', 'test-services.mjs');
  // A group of its own: a Ctrl-C at the terminal must not reach it before the tests have ended.
  const keeper = spawn(process.execPath, [program, ...missing], { detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
  keepers.push(keeper);
  const line = once(createInterface({ input: keeper.stdout }), 'line');
  const ended = once(keeper, 'exit').then(() => null);
  const answer = await Promise.race([line, ended]);
  if (answer === null) throw new Error(`Preparing what the tests need failed: ${missing.join(', ')}`);
  Object.assign(process.env, JSON.parse(String(answer[0])));
}

/** Ends what {@link prepare} started, the last first. */
async function end() {
  for (const keeper of keepers.splice(0).reverse()) {
    if (keeper.exitCode !== null || keeper.signalCode !== null) continue;
    const ended = once(keeper, 'exit');
    keeper.stdin?.end();
    await ended;
  }
}

module.exports = { prepare, end };
