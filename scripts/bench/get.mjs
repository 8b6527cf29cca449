import { prepareServed } from './served.mjs';
import { isOfSameSize, load, poolOptions, scopeOf, statementsOf } from './statements.mjs';

/**
 * Prepares the sides of the comparison: requests per second of the product and of an Express handler with the same query.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {AbortSignal} signal
 */
export async function prepareGet(platform, signal) {
  const { session, clusterId, postgres, poolSize } = platform;
  const query = await queryOfGet(await scopeOf(session), clusterId);
  return prepareServed({
    platform,
    signal,
    path: `/cluster?cluster_id=${clusterId}`,
    handler: { query: { pool: poolOptions(postgres.url, poolSize), ...query }, body: await platform.cluster() },
    alike,
  });
}

/**
 * Returns the query behind the operation.
 * @param {import('../../src/platform/kernel/auth/principal.js').TenantScope} scope
 * @param {number} clusterId
 */
async function queryOfGet(scope, clusterId) {
  /** @type {typeof import('../../src/modules/execution/clusters/definition/cluster-definitions.repository.js')} */
  const { ClusterDefinitionsRepository } = load(
    './dist/src/modules/execution/clusters/definition/cluster-definitions.repository.js',
  );
  const statements = await statementsOf((dataSource) =>
    new ClusterDefinitionsRepository(dataSource).get(scope, { id: clusterId }),
  );
  const param = statements[0]?.params.indexOf(clusterId) ?? -1;
  if (statements.length !== 1 || param < 0) throw new Error('A cluster is no longer read by one query with its id.');
  return { statements, id: { name: 'cluster_id', param } };
}

/**
 * True if both have the same fields and about the same size.
 * @param {import('./bare-express.mjs').Body} product
 * @param {import('./bare-express.mjs').Body} bare
 */
function alike(product, bare) {
  const sameKeys = Object.keys(product).every((key) => key in bare) && bare.cluster_id === product.cluster_id;
  return sameKeys && isOfSameSize(product, bare);
}
