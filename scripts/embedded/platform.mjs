import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { projectRoot } from './install.mjs';
import { freePort } from './ports.mjs';
import { endProcess, runCommand } from './processes.mjs';
import { SetupError } from './setup-error.mjs';
import { sparkVariables } from './spark-versions.mjs';
import { STOP_TIMEOUT_MS, SupervisedProcess } from './supervised-process.mjs';

const READY_DEADLINE_MS = 60_000;

/** Titles of the processes in messages; the log of each is named after its key. */
const TITLES = { api: 'The API', agents: 'The API of agents', worker: 'The worker', worker2: 'The second worker' };

/** @typedef {keyof typeof TITLES} ProcessName */

/** The name of the administrator that the first start creates. */
const ADMIN_USERNAME = 'admin';

/**
 * @typedef {object} Secrets
 * @property {string} AUTH_JWT_KEYS
 * @property {string} SECRETS_MASTER_KEYS
 * @property {string} BOOTSTRAP_ADMIN_PASSWORD
 */

/**
 * Returns the keys and the first password of the installation in this folder, and generates them once. A database encrypted
 * with one set of keys cannot be read with another.
 * @param {string} runtimeDir
 * @returns {Secrets}
 */
export function loadSecrets(runtimeDir) {
  const file = join(resolve(runtimeDir), 'secrets.json');
  if (!existsSync(file)) {
    mkdirSync(resolve(runtimeDir), { recursive: true });
    const secrets = {
      AUTH_JWT_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      SECRETS_MASTER_KEYS: `m1:${randomBytes(32).toString('base64')}`,
      BOOTSTRAP_ADMIN_PASSWORD: randomBytes(18).toString('base64url'),
    };
    writeFileSync(`${file}.new`, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new SetupError(`${file} is damaged. Restore it, or remove ${resolve(runtimeDir)} to start over.`);
  }
}

/**
 * Returns the environment of every process of an installation in this folder, except the addresses where it listens and where
 * agents reach it. The variables of the caller's own environment are passed on.
 * @param {Pick<PlatformOptions, 'runtimeDir' | 'databaseUrl' | 'redisUrl' | 'runtime'> & {secrets: Secrets}} options
 */
export function platformEnvironment({ runtimeDir, databaseUrl, redisUrl, runtime, secrets }) {
  return {
    ...secrets,
    PRODUCT_NAME: 'PLATFORM',
    LOG_LEVEL: 'info',
    OUTBOUND_SCHEMES: 'https,http',
    OUTBOUND_ADDRESSES: 'private,loopback',
    ...process.env,
    NODE_ENV: 'production',
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    DATA_DIR: join(runtimeDir, 'data'),
    COMPUTE_LOCAL_ENABLED: 'true',
    COMPUTE_LOCAL_DIR: join(runtimeDir, 'nodes'),
    COMPUTE_LOCAL_JAVA_HOME: runtime.javaHome,
    COMPUTE_LOCAL_PYTHON: runtime.python,
    COMPUTE_LOCAL_BUBBLEWRAP: runtime.bubblewrap ?? '',
    ...sparkVariables(runtime),
  };
}

/**
 * Writes the variables of API and worker to `quickstart.env`, with which `node --env-file` runs the commands of operators.
 * @param {{runtimeDir: string, root: string, env: NodeJS.ProcessEnv}} options
 */
function writeEnvironmentFile({ runtimeDir, root, env }) {
  const file = join(runtimeDir, 'quickstart.env');
  const known = readFileSync(join(root, '.env.example'), 'utf8').matchAll(/^(?:# )?([A-Z][A-Z0-9_]*)=/gm);
  const names = Array.from(known, ([, name = '']) => name).filter((name) => env[name] !== undefined);
  // Node reads a value in single quotes literally.
  writeFileSync(`${file}.new`, names.map((name) => `${name}='${env[name]}'\n`).join(''), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/**
 * Returns the URL under which clients on this machine reach an API that listens on host and port.
 * @param {string} host
 * @param {number} port
 * @returns {string}
 */
function baseUrlOf(host, port) {
  const reachable = ['0.0.0.0', '::', 'localhost', ''].includes(host) ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/**
 * @typedef {object} PlatformOptions
 * @property {string} runtimeDir
 * @property {string} databaseUrl
 * @property {string} redisUrl
 * @property {import('./runtime.mjs').Runtime} runtime
 * @property {number} port of the API of clients; that of agents has a free port of the loopback interface
 * @property {string} [host]
 * @property {NodeJS.ProcessEnv} [env] further variables of the processes; they override the ones set here
 * @property {boolean} [hasSecondWorker] true for another worker beside the first
 * @property {import('./supervised-process.mjs').RestartDelay} [restartDelayMs]
 * @property {(text: string) => void} [onEvent]
 * @property {AbortSignal} [signal]
 * @property {string} [root] project folder
 *
 * @typedef {object} Platform
 * @property {string} baseUrl
 * @property {string} agentsUrl where nodes reach the API of agents
 * @property {string} username
 * @property {string} password
 * @property {string} nodesDir
 * @property {() => {api: number | null, agents: number | null, worker: number | null}} pids
 * @property {() => Promise<void>} restart migrates, restarts the processes from dist and waits until they answer; nodes keep
 *   running. If it fails, processes that end are restarted again and again.
 * @property {() => Promise<void>} stop ends the processes, then every local node; may be called again
 */

/**
 * Migrates the database, starts the API of clients, the API of agents and the worker, and waits until they answer. A process
 * that ends later is restarted.
 * @param {PlatformOptions} options
 * @returns {Promise<Platform>}
 * @throws {SetupError}
 */
export async function startPlatform(options) {
  const { databaseUrl, redisUrl, runtime, port, host = '127.0.0.1', onEvent = () => {}, signal } = options;
  const { root = projectRoot, hasSecondWorker = false, restartDelayMs } = options;
  const runtimeDir = resolve(options.runtimeDir);
  const nodesDir = join(runtimeDir, 'nodes');
  const logs = join(runtimeDir, 'logs');
  const baseUrl = baseUrlOf(host, port);
  const secrets = loadSecrets(runtimeDir);
  // Jobs of local nodes run as other users of this machine.
  for (const folder of [logs, nodesDir, join(runtimeDir, 'data')]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  }
  const loopback = { HOST: '127.0.0.1', PORT: String(await agentsPort(runtimeDir, port)) };
  const agentsUrl = baseUrlOf(loopback.HOST, Number(loopback.PORT));
  const env = {
    ...platformEnvironment({ runtimeDir, databaseUrl, redisUrl, runtime, secrets }),
    HOST: host,
    PORT: String(port),
    AGENT_API_URL: agentsUrl,
    ...options.env,
  };
  writeEnvironmentFile({ runtimeDir, root, env });
  await migrate({ root, env, logFile: join(logs, 'migrate.log'), signal });

  /** @param {ProcessName} name @param {string} entry @param {NodeJS.ProcessEnv} own variables that differ between them */
  const supervised = (name, entry, own) =>
    new SupervisedProcess({
      title: TITLES[name],
      entry: join(root, 'dist', entry),
      env: { ...env, ...own },
      root,
      logFile: join(logs, `${name}.log`),
      restartDelayMs,
      onEvent,
      onSpawn: () => recordProcesses(runtimeDir, processes),
    });
  const api = supervised('api', 'api.js', { API_SERVES: 'clients' });
  const agents = supervised('agents', 'api.js', { API_SERVES: 'agents', ...loopback });
  const worker = supervised('worker', 'worker.js', {});
  const processes = [api, agents, worker];
  if (hasSecondWorker) processes.push(supervised('worker2', 'worker.js', {}));
  const stop = async () => {
    const left = (await Promise.all(processes.map((child) => child.stop()))).filter((name) => name !== null);
    // The worker must end first, because it would take ended nodes for lost ones.
    await stopLocalNodes(nodesDir, root);
    if (left.length > 0) throw new Error(`${left.join(' and ')} could not be ended.`);
    rmSync(join(runtimeDir, 'processes.json'), { force: true });
  };
  const start = async () => {
    for (const child of processes) child.start();
    await untilHealthy(baseUrl, api, processes, signal);
    await untilHealthy(agentsUrl, agents, processes, signal);
  };
  const restart = async () => {
    await migrate({ root, env, logFile: join(logs, 'migrate.log'), signal });
    await Promise.all(processes.map((child) => child.pause()));
    try {
      await start();
    } finally {
      for (const child of processes) child.keepRunning();
    }
  };
  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  for (const child of processes) child.keepRunning();
  return {
    baseUrl,
    agentsUrl,
    username: ADMIN_USERNAME,
    password: env.BOOTSTRAP_ADMIN_PASSWORD,
    nodesDir,
    restart,
    pids: () => ({ api: api.pid, agents: agents.pid, worker: worker.pid }),
    stop,
  };
}

/**
 * Ends the processes that a killed program left running in this folder. stopLocalNodes ends their nodes.
 * @param {string} runtimeDir
 */
export async function endLeftoverPlatform(runtimeDir) {
  const file = join(resolve(runtimeDir), 'processes.json');
  /** @type {import('./processes.mjs').ProcessRef[]} */
  let refs = [];
  try {
    refs = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // No process was left.
  }
  await Promise.all(refs.map((ref) => endProcess(ref, [['SIGTERM', STOP_TIMEOUT_MS]])));
  rmSync(file, { force: true });
}

/**
 * Ends every local node under this folder with the compiled local driver, which alone knows the parts of a node.
 * @param {string} nodesDir
 * @param {string} [root] project folder
 */
export async function stopLocalNodes(nodesDir, root = projectRoot) {
  const driver = join(root, 'dist', 'libs', 'compute-drivers', 'local', 'local-driver.js');
  if (!existsSync(nodesDir) || !existsSync(driver)) return;
  const { stopAllLocalNodes } = await import(pathToFileURL(driver).href);
  await stopAllLocalNodes(nodesDir);
}

/**
 * Returns the port of the API of agents, always the same if possible: nodes keep the address that they were created with.
 * @param {string} runtimeDir
 * @param {number} taken the port of the API of clients, which does not listen yet
 * @returns {Promise<number>}
 */
async function agentsPort(runtimeDir, taken) {
  const file = join(runtimeDir, 'agents-port');
  let port = existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined;
  do port = await freePort(port === taken ? undefined : port);
  while (port === taken);
  writeFileSync(file, `${port}\n`);
  return port;
}

/** @param {{root: string, env: NodeJS.ProcessEnv, logFile: string, signal?: AbortSignal}} options */
export async function migrate({ root, env, logFile, signal }) {
  const entry = join(root, 'dist', 'migrate.js');
  if (!existsSync(entry)) return;
  const { code, output } = await runCommand(process.execPath, [entry], { cwd: root, env, logFile, signal });
  if (code !== 0) {
    const tail = output.trimEnd().split('\n').slice(-15).join('\n');
    throw new SetupError(`Preparing the database failed; the log is ${logFile}. Its last lines:\n${tail}`);
  }
}

/**
 * @param {string} baseUrl
 * @param {SupervisedProcess} probed the process that answers there
 * @param {SupervisedProcess[]} processes none of which may end
 * @param {AbortSignal} [signal]
 */
export async function untilHealthy(baseUrl, probed, processes, signal) {
  const deadline = Date.now() + READY_DEADLINE_MS;
  /** @type {string} */
  let last;
  for (;;) {
    signal?.throwIfAborted();
    for (const child of processes) child.assertAlive();
    try {
      const answer = await fetch(`${baseUrl}/api/v1/healthCheck`, { signal: AbortSignal.timeout(5_000) });
      const text = await answer.text();
      if (answer.status === 200) return;
      last = `${answer.status} ${text.slice(0, 300)}`;
    } catch (error) {
      const { message, cause } = /** @type {Error & {cause?: NodeJS.ErrnoException}} */ (error);
      last = cause?.code ?? message;
    }
    if (Date.now() > deadline) {
      throw new SetupError(
        `${probed.title} did not become healthy within ${READY_DEADLINE_MS / 1000} s; the health check last said: ${last}.\n${probed.tail()}`,
      );
    }
    await delay(100, undefined, { signal });
  }
}

/** @param {string} runtimeDir @param {SupervisedProcess[]} processes */
function recordProcesses(runtimeDir, processes) {
  const file = join(runtimeDir, 'processes.json');
  const refs = processes.map(({ ref }) => ref).filter(Boolean);
  writeFileSync(`${file}.new`, JSON.stringify(refs), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
