// Sends the same request over persistent connections, each one again as soon as it has the response, and counts. It speaks
// HTTP itself, because a full client would need as much of the machine as the servers being measured. The parent process
// sends the commands; this process ends with its parent.
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { percentile } from './percentile.mjs';

const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * @typedef {object} Load
 * @property {number} port
 * @property {string} path
 * @property {Record<string, string>} headers
 * @property {number} connections
 * @property {number} seconds
 * @property {object} [body] makes it a POST
 * @property {boolean} [hasKeys] whether each POST has an Idempotency-Key of its own
 *
 * Responses per second, and the latencies in milliseconds that 50 % and 99 % of them do not exceed.
 * @typedef {{perSecond: number, p50: number, p99: number}} Loaded
 */

/** @param {Load} load @returns {Promise<Loaded>} */
async function generate({ port, path, headers, connections, seconds, body, hasKeys = false }) {
  const text = body === undefined ? '' : JSON.stringify(body);
  /** @type {Record<string, string>} */
  const all = { host: `127.0.0.1:${port}`, ...headers };
  if (body !== undefined) {
    all['content-type'] = 'application/json';
    all['content-length'] = String(Buffer.byteLength(text));
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1\r\n${lines.join('')}`;
  const same = Buffer.from(`${head}\r\n${text}`);
  const request = () => (hasKeys ? `${head}idempotency-key: ${randomUUID()}\r\n\r\n${text}` : same);
  const started = performance.now();
  const end = started + seconds * 1_000;
  /** @type {number[]} */
  const times = [];
  const answered = (/** @type {number} */ ms) => {
    if (performance.now() > end) return false;
    times.push(ms);
    return true;
  };
  await Promise.all(Array.from({ length: connections }, () => repeat(port, request, answered)));
  return {
    perSecond: times.length / seconds,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
  };
}

/** @param {number} port @param {() => Buffer | string} request @param {(ms: number) => boolean} answered whether to go on */
function repeat(port, request, answered) {
  let sent = 0;
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let received = Buffer.alloc(0);
    socket.setTimeout(30_000, () => socket.destroy(new Error('An answer did not come within 30 s.')));
    const send = () => {
      sent = performance.now();
      socket.write(request());
    };
    socket.on('connect', send);
    socket.on('data', (chunk) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const headEnd = received.indexOf(HEAD_END);
      if (headEnd < 0) return;
      const head = received.toString('latin1', 0, headEnd);
      const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
      if (!head.startsWith('HTTP/1.1 20') || length === undefined) {
        socket.destroy(
          new Error(`Answered ${head.split('\r\n', 1)[0]}: ${received.toString('utf8', headEnd, headEnd + 300)}`),
        );
        return;
      }
      if (received.length < headEnd + HEAD_END.length + Number(length)) return;
      received = Buffer.alloc(0);
      if (answered(performance.now() - sent)) send();
      else socket.end();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(undefined));
  });
}

process.on('message', (/** @type {Load} */ load) => {
  generate(load).then(
    (loaded) => process.send?.(loaded),
    (/** @type {Error} */ error) => process.send?.({ error: error.message }),
  );
});
process.once('disconnect', () => process.exit(0));
