import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const CONNECTIONS = 16;
const SECONDS = 4;
const BARE_EXPRESS = fileURLToPath(new URL('./bare-express.mjs', import.meta.url));
const LOAD = fileURLToPath(new URL('./load.mjs', import.meta.url));

/**
 * Sides of a comparison: answers per second to one GET, of the product and of a bare express handler.
 * @param {object} options
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} options.platform
 * @param {AbortSignal} options.signal
 * @param {string} options.path of the operation with its query, without the prefix of the API
 * @param {object} options.handler what the bare handler is told: see `bare-express.mjs`
 * @param {(product: any, bare: any) => boolean} options.alike whether the two bodies are fit to be compared
 */
export async function prepareServed({ platform, signal, path, handler, alike }) {
  const { session } = platform;
  const children = [];
  const child = (file) => {
    const process_ = fork(file, { env: { ...process.env, NODE_ENV: 'production' }, signal, killSignal: 'SIGKILL' });
    process_.on('error', () => {});
    children.push(process_);
    return process_;
  };
  const close = () => Promise.all(children.map(endChild));
  try {
    const { port: barePort } = await ask(child(BARE_EXPRESS), { path: path.split('?', 1)[0], ...handler });
    await assertAlike(await session.json('GET', path), `http://127.0.0.1:${barePort}${path}`, alike);
    const load = child(LOAD);
    const perSecond = async (port, target, headers = {}) => {
      const answer = await ask(load, { port, path: target, headers, connections: CONNECTIONS, seconds: SECONDS });
      if (answer.error) throw new Error(`The load on ${target} failed: ${answer.error}`);
      return answer.perSecond;
    };
    const productPort = Number(new URL(session.baseUrl).port);
    const authorization = `Bearer ${session.token}`;
    return {
      baseline: () => perSecond(barePort, path),
      product: () => perSecond(productPort, `/api/v1${path}`, { authorization }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Refuses a baseline that does less than it is compared with. */
async function assertAlike(product, bareUrl, alike) {
  const answer = await fetch(bareUrl);
  const bare = await answer.json();
  if (answer.status === 200 && alike(product, bare)) return;
  const [ours, theirs] = [product, bare].map((body) => JSON.stringify(body).length);
  throw new Error(
    `The bare handler answers something else: ${answer.status}, ${theirs} characters instead of ${ours}.`,
  );
}

/** @returns {Promise<any>} the child's answer */
async function ask(child, message) {
  const over = new AbortController();
  const ended = once(child, 'exit', { signal: over.signal }).then(([code, signal]) => {
    throw new Error(`A process of the measurement ended (${signal ?? `status ${code}`}).`);
  });
  ended.catch(() => {});
  const answered = once(child, 'message', { signal: over.signal });
  answered.catch(() => {});
  try {
    child.send(message);
    const [answer] = await Promise.race([answered, ended]);
    return answer;
  } finally {
    over.abort();
  }
}

async function endChild(child) {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, 'exit').catch(() => {});
  child.kill('SIGKILL');
  await ended;
}
