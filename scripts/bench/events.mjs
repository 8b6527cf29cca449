import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { login } from '../demo/session.mjs';
import { freePort } from '../embedded/ports.mjs';
import { measure } from './comparison.mjs';
import { residentMebibytes } from './memory.mjs';
import { startProgram, withServices } from './started-program.mjs';

const LISTENERS = 1_000;
const MAX_MIB = 128;
const ANSWER_MS = 60_000;
/** Two comments that keep streams alive come meanwhile, so the figure holds for streams that are in use. */
const SETTLE_MS = 35_000;

/**
 * Measures how much larger an API becomes by streams of events.
 * @param {{runtime: import('../embedded/runtime.mjs').Runtime, print: (text: string) => void, signal: AbortSignal}} options
 * @returns {Promise<import('./comparison.mjs').Result[]>}
 */
export async function measureEvents({ runtime, print, signal }) {
  return withServices({ name: 'events', runtime, print, signal }, async (place) => {
    const baseUrl = `http://127.0.0.1:${await freePort()}`;
    const env = {
      ...place.env,
      PORT: new URL(baseUrl).port,
      HTTP_MAX_STREAMS: String(LISTENERS + 1),
      HTTP_MAX_STREAMS_PER_CALLER: String(LISTENERS + 1),
    };
    const url = `${baseUrl}/api/v1/version`;
    const { pid, stop } = await startProgram({ folder: place.folder, env, entry: join('dist', 'api.js'), url, signal });
    try {
      const password = String(place.env.BOOTSTRAP_ADMIN_PASSWORD);
      const { token } = await login({ baseUrl, username: 'admin', password, signal });
      return [await growth({ baseUrl, token, pid, print, signal })];
    } finally {
      await stop();
    }
  });
}

/** @param {{baseUrl: string, token: string | null, pid: number, print: (text: string) => void, signal: AbortSignal}} api */
async function growth({ baseUrl, token, pid, print, signal }) {
  // The first stream loads what all of them need, and the garbage of the start is collected meanwhile.
  const streams = [await open(baseUrl, token)];
  await delay(SETTLE_MS, undefined, { signal });
  const before = residentMebibytes(pid);
  while (streams.length < LISTENERS) streams.push(await open(baseUrl, token));
  await delay(SETTLE_MS, undefined, { signal });
  const after = residentMebibytes(pid);
  const alive = streams.filter((stream) => !stream.closed).length;
  for (const stream of streams) stream.destroy();
  if (alive < LISTENERS) throw new Error(`Only ${alive} of ${LISTENERS} streams of events stayed open.`);
  print(`events: ${before.toFixed(0)} MiB with one stream, ${after.toFixed(0)} MiB with ${LISTENERS}`);
  return measure({
    name: 'events-memory',
    title: `resident memory that ${LISTENERS.toLocaleString('en')} streams of events add to an API`,
    unit: 'MiB',
    goal: { below: MAX_MIB },
    value: after - before,
  });
}

/** @param {string} baseUrl @param {string | null} token @returns {Promise<import('node:http').IncomingMessage>} */
async function open(baseUrl, token) {
  const sent = request(`${baseUrl}/api/v1/events`, {
    agent: false,
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(ANSWER_MS + SETTLE_MS * 4),
  });
  sent.on('error', () => {}).end();
  const [response] = await once(sent, 'response', { signal: AbortSignal.timeout(ANSWER_MS) });
  if (response.statusCode !== 200) throw new Error(`GET /events was answered ${response.statusCode}.`);
  return response.on('error', () => {}).resume();
}
