#!/usr/bin/env node
import './embedded/newer-node.mjs';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { writeClientFile } from './demo/client-file.mjs';
import { DemoStepError, destroyCluster, runDemo } from './demo/demo.mjs';
import { ApiError, login } from './demo/session.mjs';
import { ensureBuild, ensureDependencies } from './embedded/install.mjs';
import { onEndOfNpm } from './embedded/interruption.mjs';
import { acquireLock, LockHeldError } from './embedded/lock.mjs';
import { endLeftoverPlatform, loadSecrets, startPlatform, stopLocalNodes } from './embedded/platform.mjs';
import { assertPortFree } from './embedded/ports.mjs';
import { Rebuilds } from './embedded/rebuilds.mjs';
import { prepareRuntime } from './embedded/runtime.mjs';
import { startPostgres, startRedis } from './embedded/services.mjs';
import { SetupError } from './embedded/setup-error.mjs';
import { together } from './embedded/together.mjs';

const SERVICE_RESTARTS = 5;

/** Price of a compute unit unless BILLING_UNIT_PRICES gives another, so that the example has invoices. */
const EXAMPLE_PRICE = '2000-01-01:0.05:USD';

const HELP = `Usage: npm run quickstart [-- options]

Starts PostgreSQL, Redis, the API and the worker, runs a Spark job, a cell of a notebook and a function through the REST API
and keeps serving, also if one of these steps fails.

Options:
  --exit      exit after the job or a failed step; status 0 only if the job is DONE and its result is correct
  --no-demo   start and serve without the job
  --watch     like --no-demo; also compile the sources and restart API and worker whenever one changes: npm run dev
  --help      show this

Environment:
  PORT          port of the API, 8080 by default
  HOST          address to listen on, 127.0.0.1 by default
  RUNTIME_DIR   where everything is kept, .runtime by default
  PRODUCT_NAME  the product's name on the wire, PLATFORM by default
  LOG_LEVEL     of API and worker, info by default
  PYTHON        the Python to use, 3.9 or newer
  BILLING_UNIT_PRICES    what a compute unit costs, 0.05 USD by default
  DATABASE_URL, REDIS_URL, JAVA_HOME, SPARK_HOME   used instead of the embedded ones
  SPARK_VERSION                                    another version of Spark than the default, such as 4.3.0
  MAVEN_REPOSITORY_URL   mirror of Maven Central
`;

/** Prints lines with the time since the start; on a terminal the next line overwrites a transient one. */
class Console {
  constructor() {
    this.started = performance.now();
    this.transient = false;
    this.lastTransient = 0;
    // The reader of the output may disappear; the servers must still be ended in order.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  }

  /** @type {import('./embedded/install.mjs').OnProgress} */
  print = (text, transient = false) => {
    const line = `[${((performance.now() - this.started) / 1000).toFixed(1).padStart(6)} s] ${text}`;
    if (!process.stdout.isTTY) {
      // Without a terminal, progress is shown too, but not every step.
      if (transient && performance.now() - this.lastTransient < 5_000) return;
      if (transient) this.lastTransient = performance.now();
      process.stdout.write(`${line}\n`);
      return;
    }
    this.clear();
    process.stdout.write(transient ? line.slice(0, (process.stdout.columns ?? 80) - 1) : `${line}\n`);
    this.transient = transient;
  };

  /** @param {string} text */
  plain(text) {
    this.clear();
    process.stdout.write(`${text}\n`);
  }

  /** @param {string} text */
  error(text) {
    this.clear();
    process.stderr.write(`${text}\n`);
  }

  clear() {
    if (this.transient) process.stdout.write('\r\x1b[2K');
    this.transient = false;
  }
}

/** @typedef {import('./embedded/runtime.mjs').Runtime} Runtime */

class Quickstart {
  /** @param {{exit: boolean, 'no-demo': boolean, watch: boolean}} options @param {NodeJS.ProcessEnv} env */
  constructor(options, env) {
    this.options = options;
    this.console = new Console();
    this.print = this.console.print;
    this.runtimeDir = resolve(env.RUNTIME_DIR || '.runtime');
    this.clientFile = join(this.runtimeDir, 'client.env');
    this.env = env;
    this.host = env.HOST || '127.0.0.1';
    this.port = readPort(env.PORT);
    this.aborting = new AbortController();
    this.signal = this.aborting.signal;
    /** Actions that undo the start, in the order of the start. @type {{name: string, undo: () => unknown}[]} */
    this.undo = [];
    /** @type {(error: unknown) => void} */
    this.fail = () => {};
    /** Rejected by `fail`, never fulfilled. @type {Promise<never>} */
    this.fatal = new Promise((_, reject) => (this.fail = reject));
    this.fatal.catch(() => {});
    this.serving = false;
  }

  /** @returns {Promise<number>} exit status */
  async run() {
    // The handlers are never removed: a second Ctrl-C while stopping must not end this process before its children.
    let interrupted = 0;
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
      process.on(name, () => {
        interrupted += 1;
        if (interrupted > 1) this.print('Already stopping; please wait');
        this.aborting.abort();
      });
    }
    onEndOfNpm(() => this.aborting.abort());
    for (const name of ['uncaughtException', 'unhandledRejection']) process.on(name, (error) => this.fail(error));

    const work = this.serve();
    let status;
    try {
      status = await Promise.race([work, this.fatal]);
    } catch (error) {
      if (this.signal.aborted) status = this.serving ? 0 : 130;
      else {
        this.console.error(`\nquickstart failed: ${describe(error)}`);
        status = 1;
      }
    }
    this.aborting.abort();
    // Parts that are still starting end on the abort; only then is the list of actions complete.
    await work.catch(() => {});
    return (await this.stop()) ? status : 1;
  }

  /** @returns {Promise<number>} exit status */
  async serve() {
    const { console, print, signal, runtimeDir } = this;
    mkdirSync(runtimeDir, { recursive: true });
    this.lock();
    const readyFile = join(runtimeDir, 'quickstart.json');
    for (const file of [readyFile, this.clientFile]) rmSync(file, { force: true });

    // A platform whose quickstart was killed still holds the port, so it is ended before the port is tried.
    await endLeftoverPlatform(runtimeDir);
    await assertPortFree(this.port, this.host);
    this.keys();
    // Neither keeps two processors busy: both wait for downloads, and do much on one.
    const prepare = (/** @type {AbortSignal} */ either) =>
      prepareRuntime(runtimeDir, { onProgress: print, signal: either });
    const [runtime] = await together(signal, prepare, (either) => this.build(either));
    print(`Java, Spark ${runtime.sparkVersion} and Redis are ready in ${runtimeDir}`);

    const databaseUrl = await this.database();
    const redisUrl = await this.redis(runtime);
    const rebuilds = this.options.watch ? await this.rebuilds() : null;
    const platform = await startPlatform({
      runtimeDir,
      databaseUrl,
      redisUrl,
      runtime,
      port: this.port,
      host: this.host,
      env: { BILLING_UNIT_PRICES: this.env.BILLING_UNIT_PRICES || EXAMPLE_PRICE },
      onEvent: print,
      signal,
    });
    this.freeLater('API, worker and nodes', () => platform.stop());
    print(`API and worker are up at ${platform.baseUrl}`);
    rebuilds?.follow(async () => {
      await platform.restart();
      print('Built, and restarted API and worker');
    });

    const { username, password } = platform;
    const session = await login({ baseUrl: platform.baseUrl, username, password, signal });
    print(`Logged in as ${username}, tenant ${session.tenantId}`);
    let next = ['  The guides in docs/guides need the workspace and the cluster that npm run quickstart makes.'];
    if (!this.options['no-demo'] && !this.options.watch) {
      if (this.options.exit) return (await this.demo(session, runtime)).ok ? 0 : 1;
      next = await this.demoBeforeServing(session, runtime);
    }

    const ready = { base_url: platform.baseUrl, username, password, tenant_id: session.tenantId };
    writeFileSync(`${readyFile}.new`, `${JSON.stringify(ready, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${readyFile}.new`, readyFile);
    this.freeLater('quickstart.json', () => rmSync(readyFile, { force: true }));
    this.serving = true;
    console.plain(
      [
        '',
        `  Console   ${platform.baseUrl}/console/`,
        `  API       ${platform.baseUrl}`,
        `  Swagger   ${platform.baseUrl}/api/v1/docs`,
        `  User      ${username}`,
        `  Password  ${password}`,
        `  Logs      ${join(runtimeDir, 'logs')}`,
        '',
        ...next,
        '',
        'Serving until Ctrl-C.',
      ].join('\n'),
    );
    return new Promise((finish) => {
      // Children are detached, so that nothing else keeps this process alive.
      const alive = setInterval(() => {}, 60_000);
      const end = () => {
        clearInterval(alive);
        finish(0);
      };
      if (signal.aborted) end();
      else signal.addEventListener('abort', end, { once: true });
    });
  }

  /** @param {AbortSignal} signal */
  async build(signal) {
    const { print } = this;
    const install = { onProgress: print, signal };
    print((await ensureDependencies(install)) ? 'Node packages installed' : 'Node packages are up to date');
    print((await ensureBuild(install)) ? 'Built' : 'The build is up to date');
    // This needs the build, because the compiled driver knows how to end nodes.
    await stopLocalNodes(join(this.runtimeDir, 'nodes'));
  }

  /**
   * Runs the demo. A step that fails does not end the platform, which has the logs and the screens that show the reason.
   * @param {import('./demo/session.mjs').Session} session
   * @param {Runtime} runtime
   * @returns {Promise<string[]>} lines with the next steps
   */
  async demoBeforeServing(session, runtime) {
    try {
      const result = await this.demo(session, runtime);
      const next = await this.nextSteps(session, runtime, result);
      return result.ok ? next : [...this.remedies(), '', ...next];
    } catch (error) {
      this.signal.throwIfAborted();
      this.console.error(`\n${describe(error)}`);
      return [
        ...this.remedies(),
        '',
        '  The guides in docs/guides need the workspace and the cluster that the steps create.',
      ];
    }
  }

  /** @returns {string[]} lines that say what to do about a failed step */
  remedies() {
    const logs = join(this.runtimeDir, 'logs');
    return [
      '  A step failed, which is described above; the platform serves all the same.',
      '',
      `    1. Find the reason in the console at its cluster or run, or in worker.log and api.log in ${logs}`,
      '    2. Remove it, stop with Ctrl-C, and repeat the steps: npm run quickstart',
      '',
      '  Without the steps: npm run quickstart -- --no-demo',
    ];
  }

  /** @param {import('./demo/session.mjs').Session} session @param {Runtime} runtime */
  async demo(session, runtime) {
    const { console, print, signal } = this;
    const result = await runDemo({
      session,
      folder: join(this.runtimeDir, 'demo'),
      sparkVersion: runtime.sparkVersion,
      productName: this.env.PRODUCT_NAME || 'PLATFORM',
      print,
      signal,
    });
    const width = Math.max(...result.steps.map(({ title }) => title.length));
    const times = result.steps.map(
      ({ title, ms }) => `  ${title.padEnd(width)} ${(ms / 1000).toFixed(1).padStart(7)} s`,
    );
    console.plain(['', ...times, ''].join('\n'));
    console.plain(`  The job is ${result.status}; its log says    ${result.actual ?? 'nothing about a result'}`);
    console.plain(`  computed from the same file without Spark  ${result.expected}`);
    console.plain(`  The sum of 0 to 999, in a notebook's cell   ${result.cell}`);
    console.plain(`  the same from a function                   ${result.called}`);
    console.plain(`  The workspace with the job is exported to  ${result.document}\n`);
    for (const step of result.wrong) console.error(`The step "${step}" failed: its result is not the expected one.`);
    if (!this.options.exit) return result;
    await destroyCluster(session, result.clusterId, { signal });
    print('The cluster is destroyed');
    return result;
  }

  /**
   * Writes the file that the guides begin with; it is valid while the platform serves.
   * @param {import('./demo/session.mjs').Session} session
   * @param {Runtime} runtime
   * @param {import('./demo/demo.mjs').DemoResult} result
   * @returns {Promise<string[]>} lines with the next steps
   */
  async nextSteps(session, { javaHome, sparkHome, connectors }, { workspaceId, clusterId }) {
    const { clientFile: file } = this;
    const names = { username: 'admin', workspaceId, clusterId, javaHome, sparkHome, connectors };
    const { WORKSPACE, CLUSTER } = await writeClientFile(file, session, names);
    this.freeLater('client.env', () => rmSync(file, { force: true }));
    return [
      `  Workspace ${WORKSPACE} (id ${workspaceId}), with the files and jobs of the steps above`,
      `  Cluster   ${CLUSTER} (id ${clusterId}), running, with room for your jobs`,
      '',
      '  Next: open another terminal in this folder and paste the blocks of a guide.',
      '',
      '    docs/guides/first-job.md    run a script of your own and read its log',
      '    docs/guides/notebook.md     execute cells',
      '    docs/guides/README.md       all guides',
    ];
  }

  lock() {
    try {
      const lock = acquireLock(join(this.runtimeDir, 'quickstart.lock'));
      this.freeLater('lock', () => lock.release());
    } catch (error) {
      if (!(error instanceof LockHeldError)) throw error;
      throw new SetupError(
        `Another quickstart (process ${error.pid}) is running in ${this.runtimeDir}. Stop it, or give this one its own RUNTIME_DIR and PORT.`,
      );
    }
  }

  /** Created before the database, so that a database without them shows that the keys were lost. */
  keys() {
    const file = join(this.runtimeDir, 'secrets.json');
    if (!existsSync(file) && existsSync(join(this.runtimeDir, 'postgres', 'data'))) {
      throw new SetupError(
        `${file} is gone, and without it the database beside it cannot be read. Restore the file, or remove ${this.runtimeDir} to start over.`,
      );
    }
    loadSecrets(this.runtimeDir);
  }

  async database() {
    if (this.env.DATABASE_URL) return this.env.DATABASE_URL;
    const url = await this.service('PostgreSQL', (options) => startPostgres(this.runtimeDir, options));
    this.print('PostgreSQL is up');
    return url;
  }

  /** @param {Runtime} runtime */
  async redis(runtime) {
    if (this.env.REDIS_URL) return this.env.REDIS_URL;
    const url = await this.service('Redis', (options) => startRedis(this.runtimeDir, runtime, options));
    this.print('Redis is up');
    return url;
  }

  /**
   * Starts a server, and restarts it if it ends by itself: API and worker reconnect to the same address.
   * @param {string} name
   * @param {(options: import('./embedded/services.mjs').ServiceOptions) =>
   * Promise<import('./embedded/services.mjs').Service>} start
   * @returns {Promise<string>} its URL
   */
  async service(name, start) {
    let restarts = 0;
    let restarting = Promise.resolve();
    /** @param {string} text */
    const onExit = (text) => {
      if (this.signal.aborted) return;
      this.print(`${text}; restarting it`);
      restarting = restart().catch((error) => this.fail(error));
    };
    const options = { signal: this.signal, onExit };
    let current = await start(options);
    const { url } = current;
    const restart = async () => {
      restarts += 1;
      if (restarts > SERVICE_RESTARTS) throw new Error(`${name} keeps ending.`);
      await delay(500 * restarts, undefined, { signal: this.signal });
      current = await start(options);
      if (current.url !== url) throw new Error(`${name} lost its port ${new URL(url).port} to another program.`);
    };
    this.freeLater(name, async () => {
      await restarting;
      await current.stop();
    });
    return url;
  }

  async rebuilds() {
    const { print, signal } = this;
    const rebuilds = new Rebuilds({ print, signal });
    this.freeLater('compiler', () => rebuilds.stop());
    await rebuilds.start();
    print('Changes in src and libs are built and applied');
    return rebuilds;
  }

  /** @param {string} name @param {() => unknown} undo */
  freeLater(name, undo) {
    this.undo.push({ name, undo });
  }

  /** @returns {Promise<boolean>} true if everything that was started is gone */
  async stop() {
    if (this.undo.length > 1) this.print('Stopping');
    let clean = true;
    for (const { name, undo } of this.undo.reverse()) {
      try {
        await undo();
      } catch (error) {
        clean = false;
        this.console.error(`Stopping ${name} failed: ${describe(error)}`);
      }
    }
    if (this.undo.length > 1) this.print('Stopped');
    return clean;
  }
}

/** @param {string | undefined} text */
function readPort(text) {
  if (!text) return 8080;
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new SetupError(`PORT is ${JSON.stringify(text)}, but a port is a whole number from 1 to 65535.`);
}

/** @param {unknown} error @returns {string} */
function describe(error) {
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && error.code === 'ENOSPC') {
    return 'the disk is full. Free some space or set RUNTIME_DIR to a folder on a larger disk.';
  }
  if (error instanceof DemoStepError) return `The step "${error.step}" failed: ${describe(error.cause)}`;
  if (error instanceof SetupError || error instanceof ApiError) return error.message;
  return error.stack ?? String(error);
}

/** @param {string[]} args */
function readOptions(args) {
  const flag = /** @type {const} */ ({ type: 'boolean', default: false });
  try {
    const { values } = parseArgs({ args, options: { exit: flag, 'no-demo': flag, watch: flag, help: flag } });
    if (values.exit && values['no-demo']) throw new Error('--exit and --no-demo exclude each other');
    if (values.exit && values.watch) throw new Error('--exit and --watch exclude each other');
    return values;
  } catch (error) {
    throw new SetupError(`${/** @type {Error} */ (error).message}\n\n${HELP}`);
  }
}

function assertSystem() {
  if (process.platform === 'win32') {
    throw new SetupError('The quickstart runs on Linux. On Windows use it within WSL.');
  }
}

try {
  assertSystem();
  const options = readOptions(process.argv.slice(2));
  if (options.help) process.stdout.write(HELP);
  else process.exit(await new Quickstart(options, process.env).run());
} catch (error) {
  process.stderr.write(`quickstart failed: ${describe(error)}\n`);
  process.exit(1);
}
