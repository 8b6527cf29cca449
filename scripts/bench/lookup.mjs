import { prepareServed } from './served.mjs';

/** A list of medium size. */
const PATH = '/lookup_disk_machine_type';

/**
 * Prepares the sides of the comparison: requests per second of a lookup by a signed-in user, and of a handler that needs no
 * token and sends the same bytes.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {AbortSignal} signal
 */
export async function prepareLookup(platform, signal) {
  const body = await platform.session.json('GET', PATH);
  /** @param {unknown} product @param {unknown} bare */
  const alike = (product, bare) => JSON.stringify(product) === JSON.stringify(bare);
  return prepareServed({ platform, signal, path: PATH, handler: { body }, alike });
}
