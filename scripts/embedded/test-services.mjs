import {
  accessSync,
  chmodSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ensureBuild, projectRoot } from './install.mjs';
import { endProcess, processRef } from './processes.mjs';
import { SetupError } from './setup-error.mjs';
import { shortLivedJavaHome } from './short-lived-java.mjs';
import { NEWEST_SPARK, sparkVariables } from './spark-versions.mjs';

/**
 * Needs of tests besides their own code. `runtime` is Java, Spark, Python and Valkey, where most tests use the Spark that
 * TEST_SPARK names, or else that of the quickstart; `spark-4` the same with the newest Spark 4; `services` PostgreSQL and Redis;
 * `ldap` the jar of the LDAP server; `kerberos` the jars of a KDC; `sql-client` a Python client of HiveServer2; `python-sdk` a Python that can build and test sdk/python;
 * `airflow` a Python with Airflow; `dagster` a Python with Dagster;
 * `stores` the object stores, `minio` MinIO among them; `clouds` moto, which stands for EC2 and, in guides, for S3; `build` the
 * compiled programs.
 * @typedef {'runtime' | 'spark-4' | 'services' | 'ldap' | 'kerberos' | 'sql-client' | 'python-sdk' | 'airflow' | 'dagster' | 'stores' | 'minio' | 'clouds' | 'build'} Need
 *
 * @typedef {Record<string, string>} Variables of the environment that lead tests to what was prepared
 *
 * @typedef {object} TestServicesOptions
 * @property {(text: string) => void} [onProgress]
 * @property {AbortSignal} [signal] ends the preparation
 */

/** Variables of a developer's shell that would make tests depend on it. */
const FOREIGN_VARIABLES = ['DATABASE_URL', 'REDIS_URL', 'PORT', 'HOST', 'NODE_ENV', 'PRODUCT_NAME', 'RUNTIME_DIR'];

/** A file system in memory, which some systems have, and the free bytes needed to use it. */
const MEMORY_FOLDER = '/dev/shm';
const MEMORY_NEEDED = 6 * 1024 ** 3;

/**
 * The shared resources of one test run: a temporary folder and, each created when first needed, servers and programs. `close`
 * ends every process that was started in that folder.
 */
export class TestServices {
  /** @type {Map<Need, Promise<Variables>>} */
  #prepared = new Map();
  /** @type {(() => Promise<unknown>)[]} */
  #stops = [];
  #runtimeDir = resolve(process.env.RUNTIME_DIR || join(projectRoot, '.runtime'));
  /** @type {Promise<import('./runtime.mjs').Runtime> | undefined} */
  #runtime;
  #closing = new AbortController();

  /** @param {TestServicesOptions} [options] */
  constructor({ onProgress = () => {}, signal } = {}) {
    this.onProgress = onProgress;
    this.signal = signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal;
    // Every process of the run has the folder's name on its command line or in its environment: see `leftovers`.
    this.folder = mkdtempSync(join(tmpdir(), 'platform-test-'));
    // If this process is root, PostgreSQL runs as another user, who must be able to enter the folder.
    chmodSync(this.folder, 0o711);
    /** @type {NodeJS.ProcessEnv} of processes of the run, without the variables of what was prepared */
    this.env = { ...process.env, TMPDIR: this.folder, TEST_RUN_DIR: this.folder };
    for (const name of FOREIGN_VARIABLES) delete this.env[name];
  }

  /**
   * Prepares the needs, each once in a run.
   * @param {readonly Need[]} needs
   * @returns {Promise<Variables>}
   * @throws {import('./setup-error.mjs').SetupError}
   */
  async variables(...needs) {
    const found = await Promise.all(needs.map((need) => this.#once(need)));
    return Object.assign({}, ...found);
  }

  /** @param {Need} need @returns {Promise<Variables>} */
  #once(need) {
    const known = this.#prepared.get(need);
    if (known) return known;
    const variables = this.#prepare(need);
    this.#prepared.set(need, variables);
    // Each caller sees the failure; a failure that no caller awaits any longer must not end the process.
    variables.catch(() => {});
    return variables;
  }

  /** @param {Need} need @returns {Promise<Variables>} */
  async #prepare(need) {
    switch (need) {
      case 'runtime':
        return { TEST_RUNTIME_JSON: this.#write('runtime.json', await this.#runtimeOfTests(process.env.TEST_SPARK)) };
      case 'spark-4':
        return { TEST_RUNTIME_JSON: this.#write('spark-4.json', await this.#runtimeOfTests(NEWEST_SPARK)) };
      case 'services':
        return this.#startServices();
      case 'ldap':
        return { TEST_LDAP_SERVER_JAR: await this.#ldapServer() };
      case 'kerberos':
        return { TEST_KERBEROS_SERVER: await this.#kerberosServer() };
      case 'sql-client':
        return { TEST_SQL_CLIENT_PYTHON: await this.#sqlClient() };
      case 'python-sdk':
        return { TEST_PYTHON_SDK: await this.#pythonSdk() };
      case 'airflow':
        return { TEST_AIRFLOW_PYTHON: await this.#airflow() };
      case 'dagster':
        return { TEST_DAGSTER_PYTHON: await this.#dagster() };
      case 'stores':
      case 'minio':
        return { TEST_STORE_SERVERS: this.#write(`${need}.json`, await this.#startStores(need)) };
      case 'clouds':
        return { TEST_EC2_URL: await this.#startEc2() };
      case 'build':
        await ensureBuild(this.#options());
        return {};
    }
  }

  #findRuntime() {
    this.#runtime ??= import('./runtime.mjs').then(({ prepareRuntime }) =>
      prepareRuntime(this.#runtimeDir, {
        ...this.#options(),
        sparks: [NEWEST_SPARK],
      }),
    );
    return this.#runtime;
  }

  /** @param {string} [version] of the Spark that most tests use */
  async #runtimeOfTests(version) {
    const runtime = await this.#findRuntime();
    const spark = version ? runtime.sparks.find(({ sparkVersion }) => sparkVersion === version) : runtime.sparks[0];
    if (!spark) {
      const known = runtime.sparks.map(({ sparkVersion }) => sparkVersion).join(', ');
      throw new SetupError(
        `The tests cannot use Spark ${version}: ${known} are prepared. Set TEST_SPARK to one of these.`,
      );
    }
    return {
      ...runtime,
      ...spark,
      javaHome: shortLivedJavaHome(this.#runtimeDir, runtime.javaHome),
      variables: sparkVariables({ ...runtime, installable: [] }),
    };
  }

  /** @returns {Promise<Variables>} */
  async #startServices() {
    const { startPostgres, startRedis } = await import('./services.mjs');
    // Limits the log of a server whose data is in memory.
    const settings = { max_wal_size: '256MB' };
    const postgres = await startPostgres(this.#databaseFolder(), { signal: this.signal, durable: false, settings });
    this.#stops.push(() => postgres.stop());
    const redis = await startRedis(this.folder, await this.#findRuntime(), { signal: this.signal });
    this.#stops.push(() => redis.stop());
    return { TEST_DATABASE_ADMIN_URL: postgres.url, TEST_REDIS_URL: redis.url };
  }

  /**
   * Returns a folder in memory if there is room: a database is a thousand files, and each test file creates one or more. On a disk
   * that took 0.6 s for each, in memory 0.05 s.
   */
  #databaseFolder() {
    if (!hasRoomInMemory()) return this.folder;
    const folder = join(MEMORY_FOLDER, basename(this.folder));
    mkdirSync(folder);
    chmodSync(folder, 0o711);
    this.#stops.push(async () => removeFolder(folder));
    return folder;
  }

  async #ldapServer() {
    const { prepareLdapServer } = await import('./ldap-server.mjs');
    return prepareLdapServer(this.#runtimeDir, await this.#findRuntime(), this.#options());
  }

  async #kerberosServer() {
    const { prepareKerberosServer } = await import('./kerberos-server.mjs');
    return prepareKerberosServer(this.#runtimeDir, this.#options());
  }

  async #sqlClient() {
    const { prepareSqlClient } = await import('./python-clients.mjs');
    return prepareSqlClient(this.#runtimeDir, await this.#findRuntime(), this.#options());
  }

  async #pythonSdk() {
    const { preparePythonSdk } = await import('./python-clients.mjs');
    return preparePythonSdk(this.#runtimeDir, await this.#findRuntime(), this.#options());
  }

  async #airflow() {
    const { prepareAirflow } = await import('./python-clients.mjs');
    return prepareAirflow(this.#runtimeDir, await this.#findRuntime(), this.#options());
  }

  async #dagster() {
    const { prepareDagster } = await import('./python-clients.mjs');
    return prepareDagster(this.#runtimeDir, await this.#findRuntime(), this.#options());
  }

  /** @param {'stores' | 'minio'} need */
  async #startStores(need) {
    const { prepareStoreServers, startStoreServers } = await import('./store-servers.mjs');
    const options = { ...this.#options(), withMinio: need === 'minio' };
    const programs = await prepareStoreServers(this.#runtimeDir, await this.#findRuntime(), options);
    const { servers, stop } = await startStoreServers(join(this.folder, need), programs, { signal: this.signal });
    this.#stops.push(stop);
    return servers;
  }

  async #startEc2() {
    const { prepareMoto, startEc2 } = await import('./store-servers.mjs');
    const python = await prepareMoto(this.#runtimeDir, await this.#findRuntime(), this.#options());
    const { url, stop } = await startEc2(join(this.folder, 'ec2'), python, { signal: this.signal });
    this.#stops.push(stop);
    return url;
  }

  /** Options of every preparation: a log is not for the transient lines, such as the shares of a download. */
  #options() {
    /** @type {import('./install.mjs').OnProgress} */
    const onProgress = (text, transient) => (transient ? undefined : this.onProgress(text));
    return { onProgress, signal: this.signal, env: this.env };
  }

  /** @param {string} name @param {object} content @returns {string} path of the file */
  #write(name, content) {
    const file = join(this.folder, name);
    writeFileSync(file, JSON.stringify(content), { mode: 0o600 });
    return file;
  }

  /**
   * Ends the processes that the run started, and what is still being prepared. Processes that tests left running are ended too, and
   * named.
   * @returns {Promise<number>} the number of processes that were left
   */
  async close() {
    this.#closing.abort(new Error('The run has ended.'));
    await Promise.allSettled(this.#prepared.values());
    for (const stop of this.#stops.reverse()) {
      await stop().catch((error) => this.onProgress(`Stopping a service failed: ${error.message}`));
    }
    let left = leftovers(this.folder);
    // A process that was just asked to end may still be ending.
    for (const deadline = Date.now() + 5_000; left.length > 0 && Date.now() < deadline; left = leftovers(this.folder)) {
      await delay(100);
    }
    for (const { ref, command } of left) {
      this.onProgress(`Left running: ${ref.pid} ${command}`);
      await endProcess(ref, [['SIGTERM', 5_000]]);
    }
    removeFolder(this.folder);
    return left.length;
  }
}

/** @param {string} folder that processes may still write to while they end */
function removeFolder(folder) {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

function hasRoomInMemory() {
  try {
    accessSync(MEMORY_FOLDER, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
    return bavail * bsize >= MEMORY_NEEDED;
  } catch {
    return false;
  }
}

/**
 * Returns processes, other than this one, that were started with the folder of this run, or with that of its databases, which has
 * the same name. Without /proc, it returns none.
 * @param {string} folder
 */
function leftovers(folder) {
  const mark = basename(folder);
  /** @type {{ref: import('./processes.mjs').ProcessRef, command: string}[]} */
  const found = [];
  for (const name of readdirQuietly('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const command = readQuietly(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
    if (!`${command}\0${readQuietly(`/proc/${pid}/environ`)}`.includes(mark)) continue;
    const ref = processRef(pid);
    if (ref) found.push({ ref, command: command.slice(0, 200) });
  }
  return found;
}

/** @param {string} folder @returns {string[]} */
function readdirQuietly(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** @param {string} file @returns {string} */
function readQuietly(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
