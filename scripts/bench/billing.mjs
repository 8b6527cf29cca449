import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { measure } from './comparison.mjs';

const CLUSTERS = 1_000;
const TENANTS = 20;
/** Stays of each cluster in its month. */
const FEW = { stays: 10, month: '2025-01', days: 31 };
const MANY = { stays: 1_000, month: '2025-03', days: 31 };
/** Nodes that still run, each since the month with many stays. */
const OPEN = 200;
const SUMMED_UP_MS = 10 * 60_000;

/**
 * Inserts stays of nodes, equally long and one after the other through the month, nine tenths of the time in RUNNING.
 * Parameters: stays of each cluster, first day, days of the month.
 */
const FILL = `INSERT INTO ledger_entries (kind, node_state_id, node_id, machine_price_ycu, is_spot, began_at, ended_at, tenant_id,
    tenant_name, cluster_id, cluster_name, cloud_provider, machine_type_id, machine_type, labels, labels_key)
  SELECT 'interval', 1e12 + $1::int * 1e9 + cluster * 1e4 + stay, cluster * 10 + stay % 4, 5.44, false, began,
    began + step * 0.9, tenant, 'tenant-' || cluster % ${TENANTS}, 1e9 + cluster, 'cluster-' || cluster, 'GCP', 7, 'n1-highcpu-16',
    labels, md5(labels::text)::uuid
  FROM generate_series(1, ${CLUSTERS}) AS cluster CROSS JOIN generate_series(0, $1::int - 1) AS stay
    CROSS JOIN LATERAL (SELECT md5((cluster % ${TENANTS})::text)::uuid AS tenant, interval '1 day' * $3::int / $1::int AS step) AS t
    CROSS JOIN LATERAL (SELECT $2::date::timestamp AT TIME ZONE 'UTC' + stay * step AS began, jsonb_build_object('team',
      'team-' || cluster % 10, 'stage', 'prod', 'tenant_id', tenant::text) AS labels) AS u`;

const STILL_RUNNING = `INSERT INTO ledger_open_intervals (node_state_id, node_id, machine_price_ycu, is_spot, began_at, tenant_id,
    tenant_name, cluster_id, cluster_name, cloud_provider, machine_type_id, machine_type, labels, labels_key)
  SELECT node_state_id + 1e15, node_id + 1e9, machine_price_ycu, is_spot, began_at, tenant_id, tenant_name, cluster_id, cluster_name,
    cloud_provider, machine_type_id, machine_type, labels, labels_key
  FROM (SELECT DISTINCT ON (cluster_id) * FROM ledger_entries WHERE cluster_id > 1e9 AND began_at >= '${MANY.month}-20'
    ORDER BY cluster_id, ledger_entry_id) AS last LIMIT ${OPEN}`;

/**
 * @typedef {import('./comparison.mjs').Comparison} Comparison
 * @typedef {import('./comparison.mjs').Goal} Goal
 * @typedef {import('./comparison.mjs').Sides} Sides
 *
 * @typedef {object} Bench
 * @property {AbortSignal} signal
 * @property {(text: string) => void} print
 * @property {(sides: Sides & {name: string, title: string, unit: string, goal: Goal}) => Promise<Comparison>} compare
 */

/**
 * Measures the milliseconds to the complete usage of a month for a thousand clusters: over 1,000,000 ledger entries, against
 * 10,000.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {Bench} bench
 */
export async function measureBilling(platform, bench) {
  bench.print('Filling the ledger with a million entries');
  await fill(platform.postgres.url, bench.signal);
  const { baseUrl, token } = platform.session;
  /** @param {{month: string, days: number}} of */
  const milliseconds = async ({ month, days }) => {
    const path = `/api/v1/platform/billing/usage?start_date=${month}-01&end_date=${month}-${days}`;
    const began = performance.now();
    const bytes = await bytesOf(`${baseUrl}${path}`, { authorization: `Bearer ${token}` }, bench.signal);
    const ms = performance.now() - began;
    const lines = bytes.toString().split('"usage_date"').length - 1;
    if (lines !== CLUSTERS * days) throw new Error(`${path} was answered with ${lines} lines.`);
    return ms;
  };
  const against = await bench.compare({
    name: 'billing',
    title: 'usage of a month over 1,000,000 entries of the ledger, against over 10,000; 31,000 lines each',
    unit: 'ms',
    goal: { atMost: 1.5 },
    baseline: () => milliseconds(FEW),
    product: () => milliseconds(MANY),
  });
  const { median: value } = against.product;
  return [
    against,
    measure({ name: 'billing-month', title: 'the same over 1,000,000', unit: 'ms', goal: { below: 300 }, value }),
  ];
}

/**
 * Reads a response with little work, because a full client would take a good part of the time of so large a response.
 * @param {string} url @param {Record<string, string>} headers @param {AbortSignal} signal
 * @returns {Promise<Buffer>}
 */
function bytesOf(url, headers, signal) {
  return new Promise((resolve, reject) => {
    const request = get(url, { headers, signal }, (response) => {
      /** @type {Buffer[]} */
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => resolve(Buffer.concat(parts)));
      response.on('error', reject);
    });
    request.on('error', reject);
  });
}

/** @param {string} url @param {AbortSignal} signal */
async function fill(url, signal) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('BEGIN');
    for (const { stays, month, days } of [FEW, MANY]) await client.query(FILL, [stays, `${month}-01`, days]);
    await client.query(STILL_RUNNING);
    await client.query(
      `INSERT INTO stale_usage (cluster_id, from_date) SELECT DISTINCT cluster_id, date '2025-01-01' FROM ledger_entries`,
    );
    await client.query('COMMIT');
    await client.query('VACUUM (ANALYZE) ledger_entries, ledger_open_intervals');
    // The worker sums up the ledger.
    const deadline = Date.now() + SUMMED_UP_MS;
    for (;;) {
      const { rowCount } = await client.query('SELECT 1 FROM stale_usage LIMIT 1');
      if (rowCount === 0) break;
      if (Date.now() > deadline) throw new Error('The worker did not sum up the ledger in time.');
      await delay(500, undefined, { signal });
    }
    await client.query('VACUUM (ANALYZE) usage_days, usage_groups, stale_usage');
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
}
