import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { withDeadline } from '../../embedded/deadline.mjs';
import { waitForLock } from '../../embedded/lock.mjs';
import { fetchJars } from '../../embedded/maven-jars.mjs';
import { freePort } from '../../embedded/ports.mjs';
import { startServer } from './server-by-hand.mjs';

export const LIVY_VERSION = '0.7.1';

/** `org.apache.livy:livy-server` and all that Maven resolves for it, with SHA-256. */
export const LIVY_JARS = fileOf('./livy-jars.json');
const FETCH_DEADLINE_MS = 10 * 60_000;
const BATCH_DEADLINE_MS = 240_000;
const POLL_MS = 50;
/** The server stands between clients and spark-submit, and needs little. */
const HEAP = '256m';

/**
 * Downloads the server once, 76 MB from Maven Central.
 * @param {string} runtimeDir
 * @param {{print: (text: string) => void, signal: AbortSignal}} options
 * @returns {Promise<string>} its folder
 */
export async function prepareLivy(runtimeDir, { print, signal }) {
  const parent = join(resolve(runtimeDir), 'peers');
  const folder = join(parent, `livy-${LIVY_VERSION}`);
  mkdirSync(parent, { recursive: true });
  const lock = await waitForLock(join(parent, 'livy.lock'), { signal });
  try {
    if (existsSync(folder)) return folder;
    print(`Fetching Livy ${LIVY_VERSION}`);
    const draft = mkdtempSync(`${folder}.`);
    try {
      const repository = process.env.MAVEN_REPOSITORY_URL || undefined;
      await fetchJars(LIVY_JARS, draft, { repository, signal: withDeadline(FETCH_DEADLINE_MS, signal) });
      renameSync(draft, folder);
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
    return folder;
  } finally {
    lock.release();
  }
}

/** A server of Livy on this machine, which starts a spark-submit of the same Spark for each batch. */
export class Livy {
  /** @param {{url: string, end: () => Promise<void>, signal: AbortSignal}} server */
  constructor({ url, end, signal }) {
    this.url = url;
    this.end = end;
    this.signal = signal;
  }

  /**
   * @param {import('../by-hand.mjs').SparkByHand} byHand whose Spark and environment the server has
   * @param {{jars: string, master: string, mayRead: string[]}} options mayRead are the folders of the programs
   */
  static async start(byHand, { jars, master, mayRead }) {
    const folder = join(byHand.folder, 'livy');
    for (const name of ['conf', 'log']) mkdirSync(join(folder, name), { recursive: true });
    const port = await freePort();
    const settings = {
      'livy.server.host': '127.0.0.1',
      'livy.server.port': port,
      'livy.spark.master': master,
      'livy.file.local-dir-whitelist': mayRead.map((path) => `${path}/`).join(','),
    };
    const text = Object.entries(settings).map(([key, value]) => `${key} = ${value}\n`);
    writeFileSync(join(folder, 'conf', 'livy.conf'), text.join(''));
    const end = await startServer({
      title: 'Livy',
      command: [
        join(byHand.env.JAVA_HOME, 'bin', 'java'),
        ...[`-Xmx${HEAP}`, '-cp', `${join(folder, 'conf')}:${join(jars, '*')}`, 'org.apache.livy.server.LivyServer'],
      ],
      port,
      log: join(folder, 'log', 'server.log'),
      cwd: folder,
      env: { ...byHand.env, LIVY_CONF_DIR: join(folder, 'conf'), LIVY_LOG_DIR: join(folder, 'log') },
      signal: byHand.signal,
    });
    return new Livy({ url: `http://127.0.0.1:${port}`, end, signal: byHand.signal });
  }

  /**
   * Runs a batch to its end.
   * @param {object} batch as Livy's API takes it
   * @returns {Promise<{ms: number, output: string}>} from the request to its success, and the end of its output
   */
  async run(batch) {
    const started = performance.now();
    const { id } = await this.call('POST', '/batches', batch);
    for (const deadline = Date.now() + BATCH_DEADLINE_MS; ; await delay(POLL_MS, undefined, { signal: this.signal })) {
      const { state } = await this.call('GET', `/batches/${id}/state`);
      const ms = performance.now() - started;
      if (state === 'starting' || state === 'running') {
        if (Date.now() < deadline) continue;
        throw new Error(`A batch of Livy was still ${state} after ${BATCH_DEADLINE_MS / 1000} s.`);
      }
      const { log } = await this.call('GET', `/batches/${id}/log?from=0&size=1000`);
      const output = log.join('\n');
      if (state !== 'success') throw new Error(`A batch of Livy ended in ${state}:\n${output.slice(-3_000)}`);
      await this.call('DELETE', `/batches/${id}`);
      return { ms, output };
    }
  }

  /** @param {string} method @param {string} path @param {object} [body] @returns {Promise<any>} */
  async call(method, path, body) {
    const answer = await fetch(`${this.url}${path}`, {
      method,
      headers: { 'Content-Type': 'application/json' },
      body: body && JSON.stringify(body),
      signal: withDeadline(60_000, this.signal),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`Livy answered ${method} ${path} with ${answer.status}: ${text.slice(0, 500)}`);
    return JSON.parse(text);
  }
}

/** @param {string} name @returns {Record<string, string>} */
function fileOf(name) {
  return JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'));
}
