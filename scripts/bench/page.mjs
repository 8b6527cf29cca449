import { fillTenants, tenantSession } from './million.mjs';
import { prepareServed } from './served.mjs';
import { isOfSameSize, load, poolOptions, scopeOf, statementsOf } from './statements.mjs';

const RECORDS = 1_000;
const PAGE = 100;

/**
 * Prepares the sides of the comparison: requests per second for a page of a list, of the product and of an Express handler
 * with the same statements.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {AbortSignal} signal
 */
export async function preparePage(platform, signal) {
  const { postgres, poolSize } = platform;
  const session = await tenantSession(platform, 'page');
  await fillTenants(postgres.url, [{ session, count: RECORDS }]);
  const path = `/machine/volumes?limit=${PAGE}`;
  const statements = await statementsOfPage(await scopeOf(session));
  return prepareServed({
    platform,
    session,
    signal,
    path,
    handler: {
      query: { pool: poolOptions(postgres.url, poolSize), statements },
      body: await session.json('GET', path),
    },
    alike: (product, bare) => lengthOf(product) === PAGE && lengthOf(bare) === PAGE && isOfSameSize(product, bare),
  });
}

/** @param {import('../../src/platform/kernel/auth/principal.js').TenantScope} scope */
async function statementsOfPage(scope) {
  /** @type {typeof import('../../src/modules/infrastructure/environments/volumes/volume-confs.repository.js')} */
  const { VolumeConfsRepository } = load(
    './dist/src/modules/infrastructure/environments/volumes/volume-confs.repository.js',
  );
  const statements = await statementsOf(
    (dataSource) => new VolumeConfsRepository(dataSource).list(scope, { limit: PAGE, pageNumber: 1 }),
    PAGE,
  );
  if (statements.length !== 2) throw new Error('A page is no longer read by one statement and counted by another.');
  return statements;
}

/** @param {import('./bare-express.mjs').Body} body */
function lengthOf({ data }) {
  return Array.isArray(data) ? data.length : NaN;
}
