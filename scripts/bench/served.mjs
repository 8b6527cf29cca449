import { fileURLToPath } from 'node:url';
import { ask, MeasuringProcesses } from './processes.mjs';

const CONNECTIONS = 16;
const SECONDS = 4;
const BARE_EXPRESS = fileURLToPath(new URL('./bare-express.mjs', import.meta.url));

/** @typedef {import('./bare-express.mjs').Body} Body */

/**
 * Prepares the sides of a comparison: responses per second to one GET, from the product and from an Express handler.
 * @param {object} options
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} options.platform
 * @param {import('../demo/session.mjs').Session} [options.session] who asks; the administrator's if absent
 * @param {AbortSignal} options.signal
 * @param {string} options.path of the operation with its query, without the prefix of the API
 * @param {Omit<import('./bare-express.mjs').Instructions, 'path'>} options.handler
 * @param {(product: Body, bare: Body) => boolean} options.alike true if the two bodies can be compared
 * @returns {Promise<import('./comparison.mjs').Sides & {close: () => Promise<unknown>}>}
 */
export async function prepareServed({ platform, session = platform.session, signal, path, handler, alike }) {
  const processes = new MeasuringProcesses(signal);
  try {
    /** @type {{port: number}} */
    const { port: barePort } = await ask(processes.start(BARE_EXPRESS), {
      path: path.replace(/\?.*$/, ''),
      ...handler,
    });
    await assertAlike(await session.json('GET', path), `http://127.0.0.1:${barePort}${path}`, alike);
    const load = processes.startLoad();
    /** @param {number} port @param {string} target @param {Record<string, string>} [headers] */
    const perSecond = async (port, target, headers = {}) =>
      (await load({ port, path: target, headers, connections: CONNECTIONS, seconds: SECONDS })).perSecond;
    const productPort = Number(new URL(session.baseUrl).port);
    const authorization = `Bearer ${session.token}`;
    return {
      baseline: () => perSecond(barePort, path),
      product: () => perSecond(productPort, `/api/v1${path}`, { authorization }),
      close: () => processes.close(),
    };
  } catch (error) {
    await processes.close();
    throw error;
  }
}

/**
 * Throws if the baseline does less than the product.
 * @param {Body} product
 * @param {string} bareUrl
 * @param {(product: Body, bare: Body) => boolean} alike
 */
async function assertAlike(product, bareUrl, alike) {
  const answer = await fetch(bareUrl);
  const bare = /** @type {Body} */ (await answer.json());
  if (answer.status === 200 && alike(product, bare)) return;
  const [ours, theirs] = [product, bare].map((body) => JSON.stringify(body).length);
  throw new Error(
    `The bare handler answers something else: ${answer.status}, ${theirs} characters instead of ${ours}.`,
  );
}
