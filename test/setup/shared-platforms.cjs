const { existsSync, readFileSync, rmSync } = require('node:fs');
const { join } = require('node:path');
const { Client } = require('pg');

/** Maximum time for a process to exit after it was asked to. */
const STOP_TIMEOUT_MS = 60_000;

/**
 * Stops the platform that the files of a jest project shared, if one of them started it (see
 * test/e2e/harness/shared-platform.ts), and drops its database.
 * @param {string} project
 */
async function endSharedPlatform(project) {
  const file = join(process.env.TEST_PLATFORMS_DIR ?? '', `${project}.json`);
  if (!existsSync(file)) return;
  const { pids, site } = JSON.parse(readFileSync(file, 'utf8'));
  rmSync(file);
  // One after the other, so that no worker loses its API while it shuts down.
  const stuck = [];
  const { endProcess, processRef } = await import('../../scripts/embedded/processes.mjs');
  for (const pid of pids) {
    const asked = Date.now();
    await endProcess(processRef(pid), [['SIGTERM', STOP_TIMEOUT_MS]]);
    if (Date.now() - asked >= STOP_TIMEOUT_MS) stuck.push(pid);
  }
  await drop(site.databaseUrl);
  if (stuck.length > 0) throw new Error(`Processes of the platform did not end when asked to: ${stuck.join(', ')}.`);
}

/** @param {string} databaseUrl */
async function drop(databaseUrl) {
  const url = new URL(databaseUrl);
  const name = url.pathname.slice(1);
  url.pathname = '/postgres';
  const client = new Client({ connectionString: url.href });
  await client.connect();
  await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await client.end();
}

module.exports = { endSharedPlatform };
