import { createRequire } from 'node:module';
import { join } from 'node:path';
import { projectRoot } from '../embedded/install.mjs';
import { prepareServed } from './served.mjs';

/** Loads what is built. */
const require = createRequire(join(projectRoot, 'package.json'));

/**
 * Sides of the comparison: requests per second of the product and of a bare express handler with the same query.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {AbortSignal} signal
 */
export async function prepareGet(platform, signal) {
  require('reflect-metadata');
  const { session, clusterId, postgres, poolSize } = platform;
  const { user_id: userId } = await session.json('GET', '/user/info');
  const scope = { tenantId: session.tenantId, userId, username: '' };
  const query = await queryOfGet(scope, clusterId);
  return prepareServed({
    platform,
    signal,
    path: `/cluster?cluster_id=${clusterId}`,
    handler: { query: { pool: poolOptions(postgres.url, poolSize), ...query }, body: await platform.cluster() },
    alike,
  });
}

/** The product's own connection settings: how long PostgreSQL plans a query depends on them. */
function poolOptions(url, poolSize) {
  const { createDataSource } = require('./dist/src/database/data-source.js');
  const config = { url, poolSize, statementTimeoutMs: 30_000, migrateOnStart: false };
  const { options } = createDataSource(config, 'bare-express');
  return { ...options.extra, connectionString: options.url, max: options.poolSize };
}

/**
 * The query behind the operation, from the built repository itself, so that it is the same after every change of it.
 * @returns {Promise<{sql: string, params: unknown[], idParam: number}>}
 */
async function queryOfGet(scope, clusterId) {
  const { ClustersRepository } = require('./dist/src/modules/clusters/clusters.repository.js');
  const queries = [];
  const query = async (sql, params) => {
    queries.push({ sql, params });
    return [{}];
  };
  await new ClustersRepository({ manager: { query } }).get(scope, { id: clusterId });
  const [{ sql, params }] = queries;
  const idParam = params.indexOf(clusterId);
  if (queries.length !== 1 || idParam < 0) throw new Error('A cluster is not read by one query with its id any more.');
  return { sql, params, idParam };
}

/** The same fields and about the same size. */
function alike(product, bare) {
  const [ours, theirs] = [product, bare].map((body) => JSON.stringify(body).length);
  const sameKeys = Object.keys(product).every((key) => key in bare) && bare.cluster_id === product.cluster_id;
  return sameKeys && Math.abs(ours - theirs) < ours * 0.1;
}
