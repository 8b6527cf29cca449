import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { endProcess, processRef, tailOf } from './processes.mjs';
import { SetupError } from './setup-error.mjs';

/** A process must end within this time after SIGTERM. */
export const STOP_TIMEOUT_MS = 10_000;
/** @type {RestartDelay} */
const RESTART_DELAY_MS = { first: 1_000, longest: 30_000 };

/** A process that ran this long has recovered, so its next restart is quick again. */
const STABLE_AFTER_MS = 60_000;

/**
 * Pause before a process that ended is restarted, which doubles each time; milliseconds.
 * @typedef {{first: number, longest: number}} RestartDelay
 */

/** One of the built programs, which is restarted whenever it ends by itself. */
export class SupervisedProcess {
  /**
   * @param {object} options
   * @param {string} options.title its name in messages
   * @param {string} options.entry script
   * @param {NodeJS.ProcessEnv} options.env
   * @param {string} options.root project folder
   * @param {string} options.logFile
   * @param {(text: string) => void} options.onEvent called when the process ends by itself
   * @param {() => void} [options.onSpawn]
   * @param {RestartDelay} [options.restartDelayMs]
   */
  constructor({ title, entry, env, root, logFile, onEvent, onSpawn = () => {}, restartDelayMs = RESTART_DELAY_MS }) {
    this.title = title;
    this.entry = entry;
    this.env = env;
    this.root = root;
    this.logFile = logFile;
    this.onEvent = onEvent;
    this.onSpawn = onSpawn;
    /** @type {import('./processes.mjs').ProcessRef | null} */
    this.ref = null;
    /** The way the process ended; null while it runs. @type {string | null} */
    this.end = null;
    this.startedAt = 0;
    /** Size of the log before the last start, in bytes. */
    this.logStart = 0;
    this.supervised = false;
    this.stopping = new AbortController();
    this.restartDelayMs = restartDelayMs;
    this.nextDelay = restartDelayMs.first;
  }

  get pid() {
    return this.ref?.pid ?? null;
  }

  start() {
    const log = openSync(this.logFile, 'a', 0o600);
    this.logStart = fstatSync(log).size;
    // The process has a group of its own, because a Ctrl-C at the terminal must not end it before its dependents.
    const child = spawn(process.execPath, [this.entry], {
      cwd: this.root,
      env: this.env,
      detached: true,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    child.unref();
    this.end = null;
    this.startedAt = Date.now();
    const ref = child.pid ? processRef(child.pid) : null;
    this.ref = ref;
    this.onSpawn();
    // The end of an earlier process does not concern this one.
    once(child, 'exit').then(
      ([code, signal]) => this.ref === ref && this.onEnd(signal ?? `status ${code}`),
      (/** @type {Error} */ error) => this.ref === ref && this.onEnd(error.message),
    );
  }

  /** @param {string} how */
  onEnd(how) {
    this.end = how;
    if (this.supervised) void this.restart();
  }

  keepRunning() {
    this.supervised = true;
    if (this.end !== null) void this.restart();
  }

  async restart() {
    if (this.stopping.signal.aborted) return;
    if (Date.now() - this.startedAt > STABLE_AFTER_MS) this.nextDelay = this.restartDelayMs.first;
    const { signal } = this.stopping;
    const pause = this.nextDelay;
    this.nextDelay = Math.min(pause * 2, this.restartDelayMs.longest);
    this.onEvent(`${this.title} ended (${this.end}) and will be restarted in ${pause / 1000} s; see ${this.logFile}`);
    try {
      await delay(pause, undefined, { signal });
    } catch {
      return;
    }
    if (!signal.aborted) this.start();
  }

  assertAlive() {
    if (this.end === null) return;
    throw new SetupError(`${this.title} ended while it was starting (${this.end}).\n${this.tail()}`);
  }

  tail() {
    const lines = tailOf(this.logFile, 25, this.logStart);
    return lines === '' ? `${this.logFile} is empty.` : `The last lines of ${this.logFile}:\n${lines}`;
  }

  /**
   * Ends the process, or the wait for its next start, until `start` is called.
   * @throws {Error} if it could not be ended
   */
  async pause() {
    const left = await this.stop();
    this.stopping = new AbortController();
    this.nextDelay = this.restartDelayMs.first;
    if (left !== null) throw new Error(`${left} could not be ended.`);
  }

  /** @returns {Promise<string | null>} the title of a process that could not be ended */
  async stop() {
    this.supervised = false;
    this.stopping.abort();
    return (await endProcess(this.ref, [['SIGTERM', STOP_TIMEOUT_MS]])) ? null : this.title;
  }
}
