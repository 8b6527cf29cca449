import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const LOAD = fileURLToPath(new URL('./load.mjs', import.meta.url));

/** Processes that a measurement starts; they end with it. */
export class MeasuringProcesses {
  /** @type {import('node:child_process').ChildProcess[]} */
  children = [];

  /** @param {AbortSignal} signal */
  constructor(signal) {
    this.signal = signal;
  }

  /** @param {string} file */
  start(file) {
    const env = { ...process.env, NODE_ENV: 'production' };
    const child = fork(file, { env, signal: this.signal, killSignal: 'SIGKILL' });
    child.on('error', () => {});
    this.children.push(child);
    return child;
  }

  /**
   * Starts a process that sends requests.
   * @returns {(load: import('./load.mjs').Load) => Promise<import('./load.mjs').Loaded>} measures the responses to a load
   */
  startLoad() {
    const child = this.start(LOAD);
    return async (load) => {
      /** @type {import('./load.mjs').Loaded & {error?: string}} */
      const answer = await ask(child, load);
      if (answer.error) throw new Error(`The load on ${load.path} failed: ${answer.error}`);
      return answer;
    };
  }

  close() {
    return Promise.all(this.children.map(endChild));
  }
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {import('node:child_process').Serializable} message
 * @returns {Promise<any>} the child's response, whose shape depends on its program
 */
export async function ask(child, message) {
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

/** @param {import('node:child_process').ChildProcess} child */
async function endChild(child) {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, 'exit').catch(() => {});
  child.kill('SIGKILL');
  await ended;
}
