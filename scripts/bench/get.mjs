import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { projectRoot } from '../embedded/install.mjs';

const CONNECTIONS = 16;
const SECONDS = 4;
const BARE_EXPRESS = fileURLToPath(new URL('./bare-express.mjs', import.meta.url));
const LOAD = fileURLToPath(new URL('./load.mjs', import.meta.url));

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
  const children = [];
  const child = (file) => {
    const process_ = fork(file, { env: { ...process.env, NODE_ENV: 'production' }, signal, killSignal: 'SIGKILL' });
    process_.on('error', () => {});
    children.push(process_);
    return process_;
  };
  const close = () => Promise.all(children.map(endChild));
  try {
    const bare = child(BARE_EXPRESS);
    const { port: barePort } = await ask(bare, {
      pool: poolOptions(postgres.url, poolSize),
      ...query,
      body: await platform.cluster(),
    });
    await assertAlike(await platform.cluster(), `http://127.0.0.1:${barePort}/cluster?cluster_id=${clusterId}`);
    const load = child(LOAD);
    const perSecond = async (port, path, headers = {}) => {
      const answer = await ask(load, { port, path, headers, connections: CONNECTIONS, seconds: SECONDS });
      if (answer.error) throw new Error(`The load on ${path} failed: ${answer.error}`);
      return answer.perSecond;
    };
    const productPort = Number(new URL(session.baseUrl).port);
    const authorization = `Bearer ${session.token}`;
    return {
      baseline: () => perSecond(barePort, `/cluster?cluster_id=${clusterId}`),
      product: () => perSecond(productPort, `/api/v1/cluster?cluster_id=${clusterId}`, { authorization }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
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

/** Refuses a baseline that does less than it is compared with: its answers have the same fields and about the same size. */
async function assertAlike(product, bareUrl) {
  const answer = await fetch(bareUrl);
  const bare = await answer.json();
  const [ours, theirs] = [product, bare].map((body) => JSON.stringify(body).length);
  const sameKeys = Object.keys(product).every((key) => key in bare) && bare.cluster_id === product.cluster_id;
  if (answer.status === 200 && sameKeys && Math.abs(ours - theirs) < ours * 0.1) return;
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
