import pg from 'pg';
import { login } from '../demo/session.mjs';
import { MeasuringProcesses } from './processes.mjs';

const FEW = 1_000;
const MANY = 1_000_000;
const PAGE = 100;
const SECONDS = 1;

/** A part of every third name, and of three names of each tenant. */
const COMMON_PART = 'prod';
const RARE_PART = 'zeppelin';

/**
 * Inserts volume configurations named `<team>-<stage>-<purpose>-<number>`, mixed so that neighbours do not resemble each other.
 * Parameters: tenant, user, count.
 */
const FILL = `INSERT INTO volume_confs (tenant_id, created_by_user_id, modified_by_user_id, name, encrypted, size,
    disk_type_id, machine_volume_num, machine_volume_strip_num)
  SELECT $1, $2, $2, concat_ws('-',
      (ARRAY['analytics', 'billing', 'search', 'fraud', 'ingest', 'reports', 'pricing', 'catalog'])[1 + mixed % 8],
      (ARRAY['${COMMON_PART}', 'stage', 'dev'])[1 + mixed / 8 % 3],
      CASE WHEN n % ($3::int / 3) = 7 THEN '${RARE_PART}'
        ELSE (ARRAY['shuffle', 'scratch', 'data', 'cache', 'spill'])[1 + mixed / 24 % 5] END,
      lpad(n::text, 7, '0')),
    true, 100 + n % 900, (SELECT min(disk_type_id) FROM disk_types WHERE to_date = 'infinity'), 1, 1
  FROM generate_series(1, $3::int) n CROSS JOIN LATERAL (SELECT hashint4(n) & 2147483647 AS mixed) h`;

/** @typedef {import('../demo/session.mjs').Session} Session */

/**
 * Prepares the sides of the comparisons between a tenant with a thousand volume configurations and one with a million:
 * milliseconds per response, one request at a time.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {AbortSignal} signal
 */
export async function prepareMillion(platform, signal) {
  const few = await tenantSession(platform, 'thousand');
  const many = await tenantSession(platform, 'million');
  await fillTenants(platform.postgres.url, [
    { session: few, count: FEW },
    { session: many, count: MANY },
  ]);
  const processes = new MeasuringProcesses(signal);
  const load = processes.startLoad();
  /** @param {string} path @param {number} records expected in each response */
  const sides = async (path, records) => {
    await assertRecords([few, many], path, records);
    /** @param {Session} session */
    const milliseconds = (session) => async () => 1_000 / (await load(requestsOf(session, path))).perSecond;
    return { baseline: milliseconds(few), product: milliseconds(many) };
  };
  /** @param {string} part */
  const search = (part) => `/machine/volumes/search?volume_conf_name=${part}&limit=${PAGE}`;
  return {
    list: () => sides(`/machine/volumes?limit=${PAGE}`, PAGE),
    searches: [
      { part: `"${COMMON_PART}", a third of the names`, sides: () => sides(search(COMMON_PART), PAGE) },
      { part: `"${RARE_PART}", three names`, sides: () => sides(search(RARE_PART), 3) },
    ],
    close: () => processes.close(),
  };
}

/**
 * Returns a session in a new tenant.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {string} name of the tenant
 */
export async function tenantSession(platform, name) {
  const session = await login(platform.administrator);
  const { tenant_id: tenantId } = await session.json('POST', '/platform/admin/tenant', { body: { name } });
  await session.json('POST', `/user/select/${tenantId}`);
  session.tenantId = tenantId;
  return session;
}

/**
 * Gives each session's tenant a number of volume configurations.
 * @param {string} url
 * @param {{session: Session, count: number}[]} tenants
 */
export async function fillTenants(url, tenants) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('BEGIN');
    // The referenced rows are known to exist, and building a GIN index takes a tenth of the time of extending it.
    await client.query('SET LOCAL session_replication_role = replica');
    /** @type {{rows: {indexname: string, indexdef: string}[]}} */
    const { rows: indexes } = await client.query(
      `SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'volume_confs' AND indexdef LIKE '% USING gin %'`,
    );
    for (const { indexname } of indexes) await client.query(`DROP INDEX ${indexname}`);
    for (const { session, count } of tenants) {
      const { user_id: userId } = await session.json('GET', '/user/info');
      await client.query(FILL, [session.tenantId, userId, count]);
    }
    for (const { indexdef } of indexes) await client.query(indexdef);
    await client.query('COMMIT');
    await client.query('VACUUM (ANALYZE) volume_confs');
    // Pages that the fill left dirty must be written before the measurement begins.
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
}

/** @param {Session[]} sessions @param {string} path @param {number} records */
async function assertRecords(sessions, path, records) {
  for (const session of sessions) {
    const { data } = await session.json('GET', path);
    if (data.length !== records) throw new Error(`${path} was answered with ${data.length} records, not ${records}.`);
  }
}

/** @param {Session} session @param {string} path @returns {import('./load.mjs').Load} */
function requestsOf({ baseUrl, token }, path) {
  const headers = { authorization: `Bearer ${token}` };
  return { port: Number(new URL(baseUrl).port), path: `/api/v1${path}`, headers, connections: 1, seconds: SECONDS };
}
