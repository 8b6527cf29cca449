import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { ask, MeasuringProcesses } from './processes.mjs';
import { copyLatestRun, takeAllSlots } from './run-copies.mjs';

const BARE_INSERTS = fileURLToPath(new URL('./bare-inserts.mjs', import.meta.url));
const SECONDS = 4;

/** Tables that a submission writes, in an order in which they can be filled, and the id that later tables refer to. */
const TABLES = [
  { table: 'idempotency_keys', key: null },
  { table: 'runs', key: 'run_id' },
  { table: 'run_states', key: 'run_state_id' },
  { table: 'run_counts', key: 'run_count_id' },
  { table: 'audit_events', key: 'audit_event_id' },
];

/**
 * Prepares submissions to a cluster without a free slot, and their baseline.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {AbortSignal} signal
 */
export async function prepareSubmissions(platform, signal) {
  const { session, jobs, jobConfId, postgres, poolSize } = platform;
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const processes = new MeasuringProcesses(signal);
  const close = async () => {
    await processes.close();
    await client.end();
  };
  try {
    await takeAllSlots(platform, client);
    const body = { job_conf_id: jobConfId };
    const load = processes.startLoad();
    const headers = { authorization: `Bearer ${session.token}` };
    const port = Number(new URL(session.baseUrl).port);
    /** @param {number} connections @param {number} [seconds] */
    const submit = (connections, seconds = SECONDS) =>
      load({ port, path: `/api/v1${jobs}`, headers, connections, seconds, body, hasKeys: true });
    await submit(1, 0.1);
    /** @type {{port: number}} */
    const bare = await ask(processes.start(BARE_INSERTS), {
      url: postgres.url,
      poolSize,
      rows: await rowsOf(client),
    });
    return {
      /** @param {number} count of waiting runs to add */
      fill: (count) => copyLatestRun(client, count, 'SUBMITTED'),
      /** @param {number} connections */
      product: (connections) => submit(connections),
      /** @param {number} connections */
      baseline: (connections) =>
        load({ port: bare.port, path: '/', headers: {}, connections, seconds: SECONDS, body, hasKeys: true }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * The rows of the latest submission, for {@link BARE_INSERTS} to insert again.
 * @param {import('pg').Client} client
 * @returns {Promise<import('./bare-inserts.mjs').Row[]>}
 */
async function rowsOf(client) {
  /** @type {import('./bare-inserts.mjs').Row[]} */
  const found = [];
  /** Ids of the rows before, by column. @type {Map<string, unknown>} */
  const ids = new Map();
  for (const { table, key } of TABLES) {
    const { rows } = await client.query(`SELECT * FROM ${table} ORDER BY ${key ?? 'created_at'} DESC LIMIT 1`);
    const [row] = rows;
    if (!row) throw new Error(`A submission no longer leaves a row in ${table}.`);
    const id = key === null ? null : row[key];
    if (key !== null) delete row[key];
    /** @type {Record<string, unknown>} */
    const values = {};
    for (const [column, value] of Object.entries(row)) {
      // Both are the defaults of their columns.
      if (value === null || value === Infinity) continue;
      values[column] = ids.get(column) === value ? `$${column}` : parameterOf(value);
    }
    if (table === 'idempotency_keys') values.key = '$key';
    if (key === null) found.push({ table, values });
    else {
      ids.set(key, id);
      found.push({ table, values, makes: { column: key, name: `$${key}` } });
    }
  }
  return found;
}

/** Converts a value that the driver has read to a parameter for it. @param {unknown} value */
function parameterOf(value) {
  const isJson = value instanceof Object && !(value instanceof Date) && !Array.isArray(value);
  return isJson ? JSON.stringify(value) : value;
}
