import { fileURLToPath } from 'node:url';
import { ask, MeasuringProcesses } from './processes.mjs';

const CLIENT = fileURLToPath(new URL('./bodies-client.mjs', import.meta.url));

const KIBIBYTE = 1024;
/** The default of `HTTP_MAX_JSON_BYTES`. */
const LIMIT = 4 * KIBIBYTE * KIBIBYTE;
/** The maximum number of values in a body. */
const VALUES = 10_000;
const SENDERS = 8;
const SECONDS = 6;

/** A small GET of a signed-in user. */
const SMALL = '/api/v1/user/info';
const READERS = 4;
const EVERY_MS = 5;

/** The most expensive body for its length: two-byte letters in a field that accepts them, and the maximum number of values. */
function largest() {
  const values = keys(VALUES - 100);
  const rest = LIMIT - Buffer.byteLength(bodyOf('', values)) - 1;
  return bodyOf('é'.repeat(Math.floor(rest / 2)), values);
}

/**
 * A job configuration whose name is refused, so each is checked completely and none is stored.
 * @param {string} command
 * @param {Record<string, number>} values
 */
function bodyOf(command, values) {
  return JSON.stringify({ name: 'NOT A NAME', command, extra_info: values });
}

/** @param {number} count @returns {Record<string, number>} */
const keys = (count) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`key ${index}`, 1]));

/** Sizes of a small and a largest body, in bytes or in values. */
const BY_BYTES = { small: 16 * KIBIBYTE, most: LIMIT - KIBIBYTE };
const BY_VALUES = { small: 700, most: VALUES - 100 };

/** @type {{kind: string, sizes: {small: number, most: number}, body: (size: number) => string}[]} */
const KINDS = [
  { kind: 'text', sizes: BY_BYTES, body: (bytes) => bodyOf('é'.repeat(bytes / 2), {}) },
  { kind: 'free keys', sizes: BY_VALUES, body: (count) => bodyOf('', keys(count)) },
  { kind: 'unknown keys', sizes: BY_VALUES, body: (count) => JSON.stringify(keys(count)) },
  {
    kind: 'ids',
    sizes: BY_VALUES,
    body: (count) => JSON.stringify({ cluster_id: Array.from({ length: count }, (_, id) => id) }),
  },
];

/**
 * Prepares the sides of the comparisons about JSON bodies.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {AbortSignal} signal
 */
export async function prepareBodies(platform, signal) {
  const { session, jobs } = platform;
  const processes = new MeasuringProcesses(signal);
  const [reader, sender] = [processes.start(CLIENT), processes.start(CLIENT)];
  const port = Number(new URL(session.baseUrl).port);
  const headers = { authorization: `Bearer ${session.token}` };
  /** @param {import('node:child_process').ChildProcess} child @param {object} message of `bodies-client.mjs`, without the port */
  const askClient = async (child, message) => {
    const answer = await ask(child, { port, ...message });
    if (answer.error) throw new Error(answer.error);
    return answer;
  };
  /** @returns {Promise<number>} milliseconds that the slowest of a hundred GETs took */
  const pace = async () => {
    const request = { kind: 'pace', method: 'GET', path: SMALL, headers, connections: READERS, everyMs: EVERY_MS };
    return (await askClient(reader, { ...request, seconds: SECONDS })).p99;
  };
  /** @param {string} body @param {number} connections @param {number} seconds @returns {Promise<{answers: number}>} */
  const send = (body, connections, seconds) =>
    askClient(sender, {
      kind: 'send',
      method: 'POST',
      path: `/api/v1${jobs}/conf`,
      headers: { ...headers, 'content-type': 'application/json' },
      status: 400,
      body,
      connections,
      seconds,
    });
  /** Returns the milliseconds per KiB of bodies of this size, sent one after the other. @param {string} body */
  const cost = async (body) => {
    const { answers } = await send(body, 1, SECONDS / 2);
    return (SECONDS * 500) / answers / (Buffer.byteLength(body) / KIBIBYTE);
  };
  const large = largest();
  return {
    latency: {
      baseline: pace,
      product: async () => {
        // The large bodies are sent from before the measurement begins until after it ends.
        const sent = send(large, SENDERS, SECONDS + 2);
        const [p99] = await Promise.all([pace(), sent]);
        return p99;
      },
    },
    costs: KINDS.map(({ kind, sizes, body }) => {
      const [small, most] = [body(sizes.small), body(sizes.most)];
      return { kind, sides: { baseline: () => cost(small), product: () => cost(most) } };
    }),
    close: () => processes.close(),
  };
}
