const { existsSync, readFileSync, rmSync } = require('node:fs');
const { join } = require('node:path');
const { setTimeout: delay } = require('node:timers/promises');
const { Client } = require('pg');

/** How long a process may take to end, milliseconds. */
const PATIENCE_MS = 20_000;

/**
 * Ends the platform that the files of a jest project have shared, if one of them started it (see
 * test/e2e/harness/shared-platform.ts), and drops its database.
 * @param {string} project
 */
async function endSharedPlatform(project) {
  const file = join(process.env.TEST_PLATFORMS_DIR ?? '', `${project}.json`);
  if (!existsSync(file)) return;
  const { pids, site } = JSON.parse(readFileSync(file, 'utf8'));
  rmSync(file);
  // One after the other: an API that is gone is nothing that a worker should have to cope with.
  const stuck = [];
  for (const pid of pids) if (!(await endProcess(pid))) stuck.push(pid);
  await drop(site.databaseUrl);
  if (stuck.length > 0) throw new Error(`Processes of the platform did not end when asked to: ${stuck.join(', ')}.`);
}

/** @param {number} pid @returns {Promise<boolean>} whether it ended when it was asked to */
async function endProcess(pid) {
  signal(pid, 'SIGTERM');
  const deadline = Date.now() + PATIENCE_MS;
  while (isRunning(pid)) {
    if (Date.now() > deadline) {
      signal(pid, 'SIGKILL');
      return false;
    }
    await delay(50);
  }
  return true;
}

/** @param {number} pid @param {NodeJS.Signals} name */
function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended by itself.
  }
}

/** @param {number} pid A zombie, whose parent has not asked for it, does not run. */
function isRunning(pid) {
  try {
    return !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
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
