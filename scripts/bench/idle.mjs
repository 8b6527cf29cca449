import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { measure } from './comparison.mjs';

/** Time that a started cluster takes to become quiet, milliseconds. */
const SETTLE_MS = 30_000;
const COUNTED_MS = 60_000;
/** Statements that are printed, the most frequent first. */
const SHOWN = 30;
const SHOWN_CHARACTERS = 150;
const LOGGING = { log_min_duration_statement: '0', log_line_prefix: '%p %a ' };

/**
 * Counts the transactions of a platform that has a running cluster of one node and no work, and prints its statements.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {{only: string[], print: (text: string) => void, signal: AbortSignal}} options
 * @returns {Promise<import('./comparison.mjs').Result[]>}
 */
export async function measureIdle(platform, { only, print, signal }) {
  if (!only.includes('idle')) return [];
  const clusterId = await platform.createCluster('bench-idle', {
    cluster_type: 'PLATFORM',
    engine_cluster_spark_config: undefined,
  });
  await platform.startCluster(clusterId);
  print('idle: the cluster is up');
  const database = new pg.Client({ connectionString: platform.postgres.url, application_name: 'bench' });
  await database.connect();
  try {
    for (const [name, value] of Object.entries(LOGGING)) await database.query(`ALTER SYSTEM SET ${name} = '${value}'`);
    await database.query('SELECT pg_reload_conf()');
    await delay(SETTLE_MS, undefined, { signal });
    const log = join(platform.folder, 'logs', 'postgres.log');
    const from = statSync(log).size;
    const before = await transactions(database);
    await delay(COUNTED_MS, undefined, { signal });
    const counted = (await transactions(database)) - before;
    for (const line of statements(log, from)) print(`idle: ${line}`);
    return [
      measure({
        name: 'idle',
        title: 'transactions of a platform with a running cluster of one node and no work',
        unit: '/s',
        goal: { atMost: 5 },
        value: counted / (COUNTED_MS / 1000),
      }),
    ];
  } finally {
    for (const name of Object.keys(LOGGING)) await database.query(`ALTER SYSTEM RESET ${name}`);
    await database.query('SELECT pg_reload_conf()');
    await database.end();
    await platform.stopCluster(clusterId);
  }
}

/** @param {pg.Client} database @returns {Promise<number>} of all databases, since the server began to count */
async function transactions(database) {
  const { rows } = await database.query(
    'SELECT sum(xact_commit + xact_rollback)::float8 AS total FROM pg_stat_database',
  );
  return rows[0].total;
}

/** Returns the most frequent statements in the server's log from this position on. @param {string} file @param {number} from */
function statements(file, from) {
  const log = openSync(file, 'r');
  const text = Buffer.alloc(fstatSync(log).size - from);
  readSync(log, text, 0, text.length, from);
  closeSync(log);
  /** @type {Map<string, number>} */
  const counts = new Map();
  const entry = /^\d+ (.*?) ?LOG: {2}duration: [\d.]+ ms {2}(?:statement|execute [^:]*): ([^\n]*(?:\n\t[^\n]*)*)/gm;
  for (const [, program, sql = ''] of text.toString().matchAll(entry)) {
    const name = `${program}  ${sql.replace(/\s+/g, ' ').replace(/\d+/g, 'N').slice(0, SHOWN_CHARACTERS)}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, left], [, right]) => right - left)
    .slice(0, SHOWN)
    .map(([name, count]) => `${(count / (COUNTED_MS / 1000)).toFixed(2)}/s  ${name}`);
}
