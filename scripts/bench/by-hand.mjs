import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../embedded/ports.mjs';
import { endProcess, isRunning, processRef, runCommand, tailOf } from '../embedded/processes.mjs';

const DEADLINE_MS = 240_000;

/** Checking a closed port is cheap, but a page costs the master something, so it is requested only as often as a status. */
const PORT_POLL_MS = 10;
const PAGE_POLL_MS = 50;

const HOST = '127.0.0.1';

/** @typedef {{ref: import('../embedded/processes.mjs').ProcessRef | null, log: string}} Daemon log is the path of its output */

/** Spark as a person would use it in a shell: the installation of the nodes, without the platform. */
export class SparkByHand {
  /**
   * @param {object} options
   * @param {import('../embedded/runtime.mjs').Runtime} options.runtime
   * @param {string} options.folder for all that Spark writes
   * @param {AbortSignal} options.signal
   */
  constructor({ runtime, folder, signal }) {
    this.sparkHome = runtime.sparkHome;
    this.folder = folder;
    this.signal = signal;
    mkdirSync(join(folder, 'tmp'), { recursive: true });
    this.env = {
      PATH: [join(runtime.python, '..'), join(runtime.javaHome, 'bin'), '/usr/local/bin:/usr/bin:/bin'].join(':'),
      HOME: folder,
      TMPDIR: join(folder, 'tmp'),
      LANG: 'C.UTF-8',
      JAVA_HOME: runtime.javaHome,
      SPARK_HOME: runtime.sparkHome,
      PYSPARK_PYTHON: runtime.python,
      // Local nodes do the same: the machine's own name may not resolve to it.
      SPARK_LOCAL_IP: HOST,
      SPARK_LOCAL_DIRS: join(folder, 'tmp'),
    };
  }

  /**
   * @param {string} secret of a cluster
   * @returns {string} path of the properties that admit a driver to the cluster
   */
  propertiesOf(secret) {
    const path = join(this.folder, 'cluster.properties');
    const lines = [
      'spark.authenticate true',
      `spark.authenticate.secret ${secret}`,
      'spark.network.crypto.enabled true',
    ];
    writeFileSync(path, `${lines.join('\n')}\n`, { mode: 0o600 });
    return path;
  }

  /**
   * @param {string[]} args
   * @returns {Promise<{ms: number, output: string}>} its duration and its output
   */
  async submit(args) {
    const limit = AbortSignal.timeout(DEADLINE_MS);
    const signal = AbortSignal.any([this.signal, limit]);
    const started = performance.now();
    const { code, output } = await runCommand(join(this.sparkHome, 'bin', 'spark-submit'), args, {
      cwd: this.folder,
      env: this.env,
      signal,
    }).catch((/** @type {unknown} */ error) => {
      throw limit.aborted ? new Error(`spark-submit did not end within ${DEADLINE_MS / 1000} s.`) : error;
    });
    const ms = performance.now() - started;
    if (code !== 0) throw new Error(`spark-submit ended with ${code}:\n${output.slice(-3_000)}`);
    return { ms, output };
  }

  /**
   * Starts a master and, once its port is open, one worker. Ends both when the master lists the worker as alive.
   * @param {{cores: number, memory: string}} worker
   * @returns {Promise<number>} milliseconds until the worker is alive
   */
  async startDaemons({ cores, memory }) {
    const [port, masterUi, workerUi] = [await freePort(), await freePort(), await freePort()];
    /** @type {Daemon[]} */
    const daemons = [];
    const limit = Date.now() + DEADLINE_MS;
    /** @param {string} what @param {number} everyMs @param {() => Promise<boolean>} holds */
    const until = async (what, everyMs, holds) => {
      while (!(await holds())) {
        const ended = daemons.find(({ ref }) => !isRunning(ref));
        if (ended || Date.now() > limit) {
          throw new Error(`By hand there was no ${what}:\n${tailOf((ended ?? daemons.at(-1))?.log ?? '', 20)}`);
        }
        await delay(everyMs, undefined, { signal: this.signal });
      }
    };
    try {
      const started = performance.now();
      const master = ['--host', HOST, '--port', String(port), '--webui-port', String(masterUi)];
      daemons.push(this.daemon('master', 'org.apache.spark.deploy.master.Master', master));
      await until('master', PORT_POLL_MS, () => accepts(port));
      const offer = ['--cores', String(cores), '--memory', memory, '--work-dir', join(this.folder, 'work')];
      const worker = ['--host', HOST, '--webui-port', String(workerUi), ...offer, `spark://${HOST}:${port}`];
      daemons.push(this.daemon('worker', 'org.apache.spark.deploy.worker.Worker', worker));
      await until('living worker', PAGE_POLL_MS, async () => (await masterPage(masterUi))?.aliveworkers === 1);
      return performance.now() - started;
    } finally {
      await Promise.all(daemons.map(({ ref }) => endProcess(ref, [['SIGTERM', 10_000]])));
    }
  }

  /** @param {string} name @param {string} mainClass @param {string[]} args @returns {Daemon} */
  daemon(name, mainClass, args) {
    const log = join(this.folder, `${name}.log`);
    const output = openSync(log, 'w');
    try {
      const child = spawn(join(this.sparkHome, 'bin', 'spark-class'), [mainClass, ...args], {
        cwd: this.folder,
        env: { ...this.env, SPARK_DAEMON_MEMORY: '512m' },
        detached: true,
        stdio: ['ignore', output, output],
      });
      child.on('error', () => {});
      child.unref();
      return { ref: child.pid ? processRef(child.pid) : null, log };
    } finally {
      closeSync(output);
    }
  }
}

/** Returns whether something listens at this port of the loopback interface. @param {number} port @returns {Promise<boolean>} */
export function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect({ host: HOST, port });
    /** @param {boolean} open */
    const done = (open) => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', () => done(true));
    socket.once('error', () => done(false));
  });
}

/** @param {number} port @returns {Promise<{aliveworkers?: number} | null>} null until the page exists */
async function masterPage(port) {
  try {
    const answer = await fetch(`http://${HOST}:${port}/json/`, { signal: AbortSignal.timeout(2_000) });
    return /** @type {{aliveworkers?: number}} */ (await answer.json());
  } catch {
    return null;
  }
}
