import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from './session.mjs';

const DEADLINE_MS = 240_000;
const POLL_MS = 200;
const FINISHED = ['DONE', 'ERROR', 'TERMINATED', 'STOPPED', 'KILLED'];
const CELL = { cell_uuid: 'sum', cell_type: 'code', code: 'spark.range(1000).selectExpr("sum(id)").first()[0]' };
const FUNCTION =
  'def serve(request):\n    return {"sum": spark.range(request["count"]).selectExpr("sum(id)").first()[0]}\n';

/**
 * @typedef {import('./session.mjs').Session} Session
 * @typedef {{workspaceId: number, clusterId: number, signal?: AbortSignal}} Place
 */

/**
 * Executes a cell of a notebook with its kernel.
 * @param {Session} session
 * @param {Place} place
 * @returns {Promise<string>} its result, as the notebook stores it
 */
export async function runCell(session, { workspaceId, clusterId, signal }) {
  const base = `/workspace/${workspaceId}/notebook`;
  const name = 'demo-notebook';
  const body = { notebook_name: name, notebook_type: 'python3', cluster_id: clusterId, driver_memory: '512m' };
  const conf = await findOrCreate(session, `${base}/conf`, body, { notebook_name: name });
  await session.json('POST', `${base}/${conf.notebook_conf_id}/update`, { body: { cells: [CELL] } });
  const { notebook_id: id } = await session.json('POST', base, { body: { notebook_name: name } });
  try {
    await reached(() => session.json('GET', `${base}/${id}`), 'notebook_status', signal);
    const url = `${session.baseUrl.replace(/^http/, 'ws')}/api/v1${base}/${id}/kernel/ws/demo_session/${session.token}`;
    await executed(url, CELL);
    const { notebook_cells: notebook } = await session.json('GET', `${base}/conf`, { query: { notebook_name: name } });
    return notebook.cells[0]?.output[0]?.Celloutput ?? 'nothing';
  } finally {
    await ended(session, { kill: `${base}/kill/${id}`, path: `${base}/${id}`, field: 'notebook_status' }, signal);
  }
}

/**
 * Starts a job that serves a function, and calls the function.
 * @param {Session} session
 * @param {Place & {productName: string}} place
 * @returns {Promise<string>} its response, as JSON
 */
export async function callFunction(session, { workspaceId, clusterId, productName, signal }) {
  const base = `/workspace/${workspaceId}/spark/job`;
  const query = { workspace_id: workspaceId, path: 'demo-function/serve.py', overwrite: true };
  await session.json('POST', '/workspace/files', { query, bytes: Buffer.from(FUNCTION) });
  const prefix = `${productName.toLowerCase()}_functions`;
  const body = {
    name: 'demo-function',
    cluster_id: clusterId,
    job_type: `${productName}_FUNCTIONS`,
    driver_memory: '512m',
    [`${prefix}_script_path`]: 'demo-function/serve.py',
    [`${prefix}_function_name`]: 'serve',
    [`${prefix}_example_request_body`]: '{"count": 1000}',
  };
  await findOrCreate(session, `${base}/conf`, body, { job_conf_name: 'demo-function' });
  const { job_id: id } = await session.json('POST', base, { body: { job_conf_name: 'demo-function' } });
  try {
    await reached(() => session.json('GET', `${base}/${id}`), 'job_status', signal);
    const { paths } = await session.json('GET', `${base}/${id}/openapi`);
    const { content } = paths[`${base}/${id}/invoke`].post.requestBody;
    const { example } = content['application/json'];
    // The first call waits for the Spark session of the function, which takes minutes on a slow machine.
    const call = { body: example, timeoutMs: DEADLINE_MS };
    return JSON.stringify(await session.json('POST', `${base}/${id}/invoke`, call));
  } finally {
    await ended(session, { kill: `${base}/kill/${id}`, path: `${base}/${id}`, field: 'job_status' }, signal);
  }
}

/**
 * Returns the record that an earlier run created, or creates it.
 * @param {Session} session
 * @param {string} path
 * @param {object} body
 * @param {Record<string, unknown>} query
 */
async function findOrCreate(session, path, body, query) {
  try {
    return await session.json('POST', path, { body });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error;
    return session.json('GET', path, { query });
  }
}

/**
 * @param {() => Promise<any>} read
 * @param {string} field
 * @param {AbortSignal} [signal]
 */
async function reached(read, field, signal) {
  for (const deadline = Date.now() + DEADLINE_MS; ; await delay(POLL_MS, undefined, { signal })) {
    const { [field]: status, reason } = await read();
    if (status === 'RUNNING') return;
    if (FINISHED.includes(status)) throw new Error(`The run ended in ${status} before it was RUNNING: ${reason}`);
    if (Date.now() > deadline) throw new Error(`It was still ${status} after ${DEADLINE_MS / 1000} s.`);
  }
}

/**
 * @param {Session} session
 * @param {{kill: string, path: string, field: string}} run
 * @param {AbortSignal} [signal]
 */
async function ended(session, { kill, path, field }, signal) {
  await session.json('POST', kill).catch((error) => {
    // The run has ended by itself.
    if (!(error instanceof ApiError) || error.status !== 409) throw error;
  });
  for (const deadline = Date.now() + DEADLINE_MS; ; await delay(POLL_MS, undefined, { signal })) {
    const { [field]: status } = await session.json('GET', path);
    if (FINISHED.includes(status)) return;
    if (Date.now() > deadline) throw new Error(`It was still ${status} after ${DEADLINE_MS / 1000} s.`);
  }
}

/**
 * Sends a cell to a kernel; returns once it has replied.
 * @param {string} url
 * @param {typeof CELL} cell
 * @returns {Promise<void>}
 */
async function executed(url, { cell_uuid: id, code }) {
  // This import cannot be at the top: a fresh clone has no packages before the quickstart has installed them.
  const { WebSocket } = await import('ws');
  const socket = new WebSocket(url);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`The cell had no reply after ${DEADLINE_MS / 1000} s.`)),
      DEADLINE_MS,
    );
    const over = () => {
      clearTimeout(timer);
      socket.terminate();
    };
    socket.on('open', () => {
      socket.send(JSON.stringify({ header: { msg_id: id, msg_type: 'execute_request' }, content: { code } }));
    });
    socket.on('message', (/** @type {Buffer} */ data) => {
      const message = JSON.parse(data.toString());
      if (message.msg_type !== 'execute_reply' || message.parent_header.msg_id !== id) return;
      over();
      if (message.content.status === 'ok') resolve();
      else reject(new Error(`The cell failed: ${message.content.evalue}`));
    });
    socket.on('error', (error) => {
      over();
      reject(error);
    });
    socket.on('close', (code) => reject(new Error(`The socket was closed with ${code}.`)));
  });
}
