// Sends the same POST over several connections, each one again as soon as it has the response, or a GET at a steady pace, and
// measures. It speaks HTTP itself, because a full client would need as much of the machine as the server being measured.
// The parent process sends the commands; this process ends with its parent.
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { percentile } from './percentile.mjs';

const HEAD_END = Buffer.from('\r\n\r\n');
const ANSWER_WITHIN_MS = 60_000;

/**
 * @typedef {{method: string, path: string, headers: Record<string, string>, port: number}} Request
 *
 * A request that is repeated over each connection for `seconds`, to measure its responses.
 * @typedef {Request & {connections: number, seconds: number}} Repeated
 * @typedef {Repeated & {body: string, status: number}} Sending status is the expected one of every response
 * @typedef {Repeated & {everyMs: number}} Pacing
 */

/** A persistent connection with one request at a time. */
class Connection {
  /** @param {number} port */
  constructor(port) {
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true });
    /** @type {Buffer} */
    this.received = Buffer.alloc(0);
    /** @type {(status: number) => void} */
    this.answered = () => {};
    /** @type {(error: Error) => void} */
    this.fail = () => {};
    this.socket.on('data', (chunk) => this.onData(chunk));
    this.socket.on('error', (error) => this.fail(error));
    this.socket.on('close', () => this.fail(new Error('The connection was closed.')));
    this.socket.setTimeout(ANSWER_WITHIN_MS, () => this.socket.destroy(new Error('An answer did not come in time.')));
  }

  /** @param {Buffer[]} parts @returns {Promise<number>} status */
  ask(parts) {
    return new Promise((resolve, reject) => {
      [this.answered, this.fail] = [resolve, reject];
      for (const part of parts) this.socket.write(part);
    });
  }

  /** @param {Buffer} chunk */
  onData(chunk) {
    this.received = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk]);
    const headEnd = this.received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = this.received.toString('latin1', 0, headEnd);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (this.received.length < headEnd + HEAD_END.length + length) return;
    this.received = Buffer.alloc(0);
    this.answered(Number(head.split(' ', 2)[1]));
  }

  close() {
    this.fail = () => {};
    this.socket.destroy();
  }
}

/** @param {Request} request @param {number} length of the body @returns {Buffer} */
function headOf({ method, path, headers, port }, length) {
  const all = { host: `127.0.0.1:${port}`, ...headers, ...(length === 0 ? {} : { 'content-length': length }) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
}

/**
 * Sends the body until the time is over and returns how many responses had the status.
 * @param {Sending} sending
 */
async function send({ connections, seconds, body, status, ...request }) {
  const bytes = Buffer.from(body);
  const head = headOf(request, bytes.length);
  const end = performance.now() + seconds * 1_000;
  let answers = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = new Connection(request.port);
      while (performance.now() < end) {
        const answered = await connection.ask([head, bytes]);
        if (answered !== status) throw new Error(`${request.path} was answered ${answered}.`);
        answers += 1;
      }
      connection.close();
    }),
  );
  return { answers };
}

/**
 * Sends requests at a steady pace and returns the 99th percentile of their latency in milliseconds.
 * @param {Pacing} pacing
 */
async function pace({ connections, seconds, everyMs, ...request }) {
  const head = headOf(request, 0);
  const end = performance.now() + seconds * 1_000;
  /** @type {number[]} */
  const latencies = [];
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = new Connection(request.port);
      while (performance.now() < end) {
        const started = performance.now();
        const answered = await connection.ask([head]);
        if (answered !== 200) throw new Error(`${request.path} was answered ${answered}.`);
        latencies.push(performance.now() - started);
        await delay(everyMs);
      }
      connection.close();
    }),
  );
  return { p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) };
}

process.on('message', (/** @type {({kind: 'send'} & Sending) | ({kind: 'pace'} & Pacing)} */ message) => {
  (message.kind === 'send' ? send(message) : pace(message)).then(
    (measured) => process.send?.(measured),
    (/** @type {Error} */ error) => process.send?.({ error: error.message }),
  );
});
process.once('disconnect', () => process.exit(0));
