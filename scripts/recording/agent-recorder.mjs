import { createServer, request as open } from 'node:http';
import { once } from 'node:events';

const BASE_PATH = '/agent/v1';
/** The number of similar exchanges that are kept. */
const KEPT_ALIKE = 2;

/** Fields whose values, and not only their names, characterize an exchange. */
const CHARACTERISTIC = new Set(['state', 'outcome', 'action', 'kind', 'role']);

/**
 * @typedef {object} Exchange
 * @property {string} method
 * @property {string} path below the base path, with the ids that it had
 * @property {'bootstrap' | 'node'} token that authenticated the agent
 * @property {string | null} type of the body
 * @property {unknown} body JSON; for bytes that are records, their base64; for other bytes, their number: `{bytes}`
 * @property {{status: number, type: string | null, body: unknown}} answer
 */

/** Stands between the agents and the control plane, and records some exchanges of each kind. */
export class AgentRecorder {
  #target = '';
  /** @type {Exchange[]} */
  #exchanges = [];
  /** @type {Map<string, number>} */
  #alike = new Map();
  #server = createServer((request, response) => {
    this.#forward(request, response).catch((/** @type {Error} */ error) => {
      response.destroy(error);
    });
  });

  static async listen() {
    const recorder = new AgentRecorder();
    recorder.#server.listen(0, '127.0.0.1');
    await once(recorder.#server, 'listening');
    return recorder;
  }

  get url() {
    const address = /** @type {import('node:net').AddressInfo} */ (this.#server.address());
    return `http://127.0.0.1:${address.port}`;
  }

  /** @param {string} url */
  forwardTo(url) {
    this.#target = url;
  }

  exchanges() {
    return this.#exchanges;
  }

  async close() {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
  async #forward(request, response) {
    const sent = await bytesOf(request);
    const { method = 'GET', url = '', headers } = request;
    const onward = open(`${this.#target}${url}`, { method, headers });
    response.once('close', () => onward.destroy());
    onward.end(sent);
    const [answer] = /** @type {[import('node:http').IncomingMessage]} */ (await once(onward, 'response'));
    const received = await bytesOf(answer);
    response.writeHead(answer.statusCode ?? 502, answer.headers).end(received);
    this.#keep({
      method,
      path: url.replace(BASE_PATH, ''),
      token: url === `${BASE_PATH}/register` ? 'bootstrap' : 'node',
      type: headers['content-type'] ?? null,
      body: recordedBody(sent, headers['content-type'], url),
      answer: {
        status: answer.statusCode ?? 0,
        type: answer.headers['content-type'] ?? null,
        body: recordedBody(received, answer.headers['content-type'], url),
      },
    });
  }

  /** @param {Exchange} exchange */
  #keep(exchange) {
    const { method, path, body, answer } = exchange;
    const kind = JSON.stringify([
      method,
      path.replace(/\d+/g, 'N'),
      shapeOf(body),
      answer.status,
      shapeOf(answer.body),
    ]);
    const count = (this.#alike.get(kind) ?? 0) + 1;
    this.#alike.set(kind, count);
    if (count <= KEPT_ALIKE) this.#exchanges.push(exchange);
  }
}

/** @param {AsyncIterable<Buffer>} stream */
async function bytesOf(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

/** Returns the part of a body that is recorded. @param {Buffer} bytes @param {string | undefined} type @param {string} url */
function recordedBody(bytes, type, url) {
  if (bytes.length === 0) return null;
  if (type?.startsWith('application/json'))
    return JSON.parse(bytes.toString('utf8'), (key, value) => (SECRET.test(key) && value !== null ? 'secret' : value));
  return /\/(frames|requests)/.test(url) ? bytes.toString('base64') : { bytes: bytes.length };
}

const SECRET = /token|secret|password/;

/** @param {unknown} value @param {string} [key] @returns {unknown} */
function shapeOf(value, key = '') {
  if (Array.isArray(value)) return [...new Set(value.map((item) => JSON.stringify(shapeOf(item, key))))];
  if (typeof value === 'object' && value !== null)
    return 'bytes' in value ? 'bytes' : Object.entries(value).map(([name, item]) => [name, shapeOf(item, name)]);
  return CHARACTERISTIC.has(key) ? value : value === null ? null : typeof value;
}
