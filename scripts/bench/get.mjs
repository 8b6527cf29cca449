import { createRequire } from 'node:module';
import { join } from 'node:path';
import { projectRoot } from '../embedded/install.mjs';
import { prepareServed } from './served.mjs';

/** Loads a built file; the source gives its type. */
const load = createRequire(join(projectRoot, 'package.json'));

/**
 * Prepares the sides of the comparison: requests per second of the product and of a bare Express handler with the same query.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {AbortSignal} signal
 */
export async function prepareGet(platform, signal) {
  load('reflect-metadata');
  const { session, clusterId, postgres, poolSize } = platform;
  const { user_id: userId } = await session.json('GET', '/user/info');
  const scope = { tenantId: String(session.tenantId), userId: Number(userId), username: '' };
  const query = await queryOfGet(scope, clusterId);
  return prepareServed({
    platform,
    signal,
    path: `/cluster?cluster_id=${clusterId}`,
    handler: { query: { pool: poolOptions(postgres.url, poolSize), ...query }, body: await platform.cluster() },
    alike,
  });
}

/**
 * Returns the product's own connection settings, because the time that PostgreSQL plans a query depends on them.
 * @param {string} url
 * @param {number} poolSize
 * @returns {import('pg').PoolConfig}
 */
function poolOptions(url, poolSize) {
  /** @type {typeof import('../../src/database/data-source.js')} */
  const { createDataSource } = load('./dist/src/database/data-source.js');
  const config = { url, poolSize, statementTimeoutMs: 30_000, migrationTimeoutMs: 0, migrateOnStart: false };
  /** @typedef {Extract<import('typeorm').DataSourceOptions, {type: 'postgres'}>} PostgresOptions */
  const options = /** @type {PostgresOptions} */ (createDataSource(config, 'bare-express').options);
  return { ...options.extra, connectionString: options.url, max: options.poolSize };
}

/**
 * Returns the query behind the operation. It comes from the built repository itself, so it follows every change there.
 * @param {import('../../src/platform/kernel/auth/principal.js').TenantScope} scope
 * @param {number} clusterId
 * @returns {Promise<{sql: string, params: unknown[], idParam: number}>}
 */
async function queryOfGet(scope, clusterId) {
  /** @type {typeof import('../../src/modules/execution/clusters/definition/cluster-definitions.repository.js')} */
  const { ClusterDefinitionsRepository } = load(
    './dist/src/modules/execution/clusters/definition/cluster-definitions.repository.js',
  );
  /** @type {{sql: string, params: unknown[]}[]} */
  const queries = [];
  /** @param {string} sql @param {unknown[]} params */
  const query = async (sql, params) => {
    queries.push({ sql, params });
    return [{}];
  };
  // A repository needs nothing else of its data source to read.
  const dataSource = /** @type {import('typeorm').DataSource} */ (/** @type {unknown} */ ({ manager: { query } }));
  await new ClusterDefinitionsRepository(dataSource).get(scope, { id: clusterId });
  const [first, ...others] = queries;
  const idParam = first?.params.indexOf(clusterId) ?? -1;
  if (!first || others.length > 0 || idParam < 0)
    throw new Error('A cluster is no longer read by one query with its id.');
  return { ...first, idParam };
}

/**
 * True if both have the same fields and about the same size.
 * @param {import('./bare-express.mjs').Body} product
 * @param {import('./bare-express.mjs').Body} bare
 */
function alike(product, bare) {
  const [ours, theirs] = [JSON.stringify(product).length, JSON.stringify(bare).length];
  const sameKeys = Object.keys(product).every((key) => key in bare) && bare.cluster_id === product.cluster_id;
  return sameKeys && Math.abs(ours - theirs) < ours * 0.1;
}
