import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { FOLDER_IDS_FILE } from '../../../libs/compute-drivers/local/local-folder';
import { stopAllLocalNodes } from '../../../libs/compute-drivers/local/local-driver';
import { PROBE_PREFIX } from '../../../libs/node-agent/confinement';
import { eventually } from '../../harness/eventually';
import { freePort } from '../../../scripts/embedded/ports.mjs';
import { suspend } from '../../harness/suspend';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../../harness/test-databases';
import { ApiClient, type Json } from './api-client';

const ROOT = resolve(__dirname, '..', '..', '..');
/** Kills the built worker at a crash point; the worker itself has no such option. */
const CRASH_POINT_HOOK = join(__dirname, 'crash-point.cjs');
const STOP_TIMEOUT_MS = 60_000;
const HEALTHY_TIMEOUT_MS = 240_000;

type Environment = Record<string, string>;

export interface PlatformOptions {
  /** Base name of the logs in `.runtime/test-logs`. */
  name: string;
  /** Variables that override the defaults of all processes. */
  env?: Environment;
  /** Command prefix that runs all processes as another user; see `test/attacks/harness/users.ts`. */
  user?: ProcessUser;
  /** True if agents have their own API process, as in production. */
  agentsApart?: boolean;
  /** True if the first API finds an empty database instead of one with schema and reference data. */
  startsEmpty?: boolean;
}

/** A user of the machine, and the command prefix that runs a process as that user. */
export interface ProcessUser {
  uid: number;
  command: readonly string[];
}

/** An installed Spark with what belongs to it. */
export interface TestSpark {
  sparkHome: string;
  sparkVersion: string;
  classArchive: string | null;
  connectors: string | null;
  scalaKernel: string | null;
  turbo: string | null;
}

/** Java, Spark and Python, prepared by `scripts/embedded/runtime.mjs`. Its own Spark is the one that most tests use. */
export interface TestRuntime extends TestSpark {
  /** All Sparks, of which the newest Spark 4 is always one. */
  sparks: TestSpark[];
  /** Variables of a worker with these Sparks. */
  variables: Record<string, string>;
  python: string;
  javaHome: string;
  bubblewrap: string | null;
}

/** Addresses and folders of an installation of the platform. */
export interface PlatformSite {
  baseUrl: string;
  /** URL of the API that agents use. */
  agentsUrl: string;
  databaseUrl: string;
  /** Holds the folders of nodes. */
  localDir: string;
  dataDir: string;
  /** Folder that jobs and tests share; everybody may write there. */
  sharedDir: string;
  logs: { api: string; worker: string };
}

/** A platform that outlives the process that started it. */
export interface RunningPlatform {
  site: PlatformSite;
  /** Process ids in the order in which they must end. */
  pids: number[];
}

interface NodeProcess {
  pid: number;
  command: string;
}

/** An installation of the platform, used by one test file alone or shared by tenant. */
export abstract class Platform {
  abstract readonly username: string;
  readonly runtime = readRuntime();
  readonly baseUrl = this.site.baseUrl;
  readonly agentsUrl = this.site.agentsUrl;
  readonly localDir = this.site.localDir;
  readonly dataDir = this.site.dataDir;
  readonly sharedDir = this.site.sharedDir;
  protected readonly database = new Client({ connectionString: this.site.databaseUrl });

  protected constructor(protected readonly site: PlatformSite) {}

  /** Returns a client logged in as an administrator, with a tenant selected. */
  abstract admin(): Promise<ApiClient>;

  /** Returns the running processes of the nodes. */
  abstract nodeProcesses(): Promise<NodeProcess[]>;

  /** Returns the names of the nodes' folders. */
  abstract nodeFolders(): Promise<string[]>;

  /** Ends everything that the tests started; throws if processes are left. */
  abstract close(): Promise<void>;

  /** Returns a client without a login. */
  anonymous(): ApiClient {
    return new ApiClient(this.baseUrl);
  }

  /** Queries the database of the platform for facts that the API does not show. */
  async sql<T = Json>(statement: string, parameters: unknown[] = []): Promise<T[]> {
    return (await this.database.query(statement, parameters)).rows as T[];
  }

  apiLog(): string {
    return textOf(this.site.logs.api);
  }

  workerLog(): string {
    return textOf(this.site.logs.worker);
  }

  protected async assertNothingLeft(): Promise<void> {
    const none = async () => (await this.nodeProcesses()).length === 0;
    await eventually(none, { timeoutMs: 60_000 }).catch(async () => {
      const left = await this.nodeProcesses();
      for (const { pid } of left) killQuietly(pid);
      const list = left.map(({ pid, command }) => `  ${pid} ${command}`).join('\n');
      if (left.length > 0) throw new Error(`Processes were left behind:\n${list}`);
    });
  }

  /** Returns the processes whose command line or environment names the folder of nodes and which `wanted` accepts. */
  protected processesNaming(wanted: (text: string) => boolean = () => true): NodeProcess[] {
    return processesWhere((text) => text.includes(this.localDir) && wanted(text));
  }

  protected foldersOfNodes(): string[] {
    // The folder also holds locks, the file of its ids, and the folder in which a worker probes its confinement, which stays
    // for a minute if the worker was killed.
    const isOfNode = (name: string) =>
      !name.endsWith('.lock') && name !== FOLDER_IDS_FILE && !name.startsWith(PROBE_PREFIX);
    return readdirSync(this.localDir).filter(isOfNode);
  }
}

/**
 * One installation of the platform: a database and folders of its own, the built API and worker as processes, real
 * Spark on nodes of the local driver. `close` ends all of it and throws if processes are left.
 */
export class PlatformUnderTest extends Platform {
  readonly username = 'admin';
  readonly password = randomBytes(12).toString('base64url');
  private readonly api: ManagedProcess;
  /** Null if `api` serves agents, too. */
  private readonly agents: ManagedProcess | null;
  private readonly worker: ManagedProcess;

  private constructor(
    private readonly options: PlatformOptions,
    private readonly folder: string,
    private readonly testDatabase: TestDatabase,
    private readonly port: number,
    private readonly agentsPort: number,
  ) {
    const logs = join(ROOT, '.runtime', 'test-logs');
    const log = (name: string) => join(logs, `${options.name}.${name}.log`);
    const baseUrl = `http://127.0.0.1:${port}`;
    super({
      baseUrl,
      agentsUrl: options.agentsApart ? `http://127.0.0.1:${agentsPort}` : baseUrl,
      databaseUrl: testDatabase.url,
      localDir: join(folder, 'nodes'),
      dataDir: join(folder, 'data'),
      sharedDir: join(folder, 'shared'),
      logs: { api: log('api'), worker: log('worker') },
    });
    mkdirSync(logs, { recursive: true });
    const folders = [this.localDir, this.dataDir, this.sharedDir];
    for (const directory of folders) mkdirSync(directory, { recursive: true });
    // Jobs run as other users than the platform and need access to the shared folder.
    chmodSync(folder, 0o711);
    chmodSync(this.sharedDir, 0o777);
    const command = options.user?.command ?? [];
    if (options.user) for (const path of [folder, ...folders]) chownSync(path, options.user.uid, options.user.uid);
    const api = join('dist', 'api.js');
    this.api = new ManagedProcess('API', api, log('api'), command);
    this.agents = options.agentsApart ? new ManagedProcess('API of agents', api, log('agents'), command) : null;
    this.worker = new ManagedProcess('worker', join('dist', 'worker.js'), log('worker'), command);
  }

  /** Creates the database and the folders; nothing runs yet. */
  static async create(options: PlatformOptions): Promise<PlatformUnderTest> {
    const database = options.startsEmpty ? await createEmptyDatabase('e2e') : await createTestDatabase('e2e');
    const folder = mkdtempSync(join(tmpdir(), 'e2e-'));
    const platform = new PlatformUnderTest(options, folder, database, await freePort(), await freePort());
    await platform.database.connect();
    // Test databases are copies of one template, and installations on the same provider need different ids.
    if (!options.startsEmpty) await platform.sql('UPDATE installation SET installation_id = gen_random_uuid()');
    return platform;
  }

  /** Creates a platform and starts its processes. */
  static async start(options: PlatformOptions): Promise<PlatformUnderTest> {
    const platform = await PlatformUnderTest.create(options);
    try {
      await platform.startApi();
      await platform.startWorker();
      return platform;
    } catch (error) {
      await platform.close().catch(() => {});
      throw error;
    }
  }

  get databaseUrl(): string {
    return this.testDatabase.url;
  }

  /** Starts the API, that of agents included, and returns when it is healthy. */
  async startApi(env: Environment = {}): Promise<void> {
    await this.api.start({ ...this.environment(), ...(this.agents ? { API_SERVES: 'clients' } : {}), ...env });
    await this.agents?.start({ ...this.environment(), API_SERVES: 'agents', PORT: String(this.agentsPort), ...env });
    await this.waitHealthy();
  }

  /** Freezes the API of agents until the returned function is called. */
  async haltAgentsApi(): Promise<() => void> {
    const pid = this.agents?.pid;
    if (pid === undefined) throw new Error('There is no API of agents');
    await suspend(pid);
    return () => process.kill(pid, 'SIGCONT');
  }

  /** Stops the API with SIGTERM, as an orchestrator would, and returns when it has ended. */
  async stopApi(): Promise<void> {
    await this.api.stop();
    await this.agents?.stop();
  }

  async killApi(): Promise<void> {
    await this.api.kill();
    await this.agents?.kill();
  }

  async startWorker(env: Environment = {}): Promise<void> {
    await this.worker.start({ ...this.environment(), ...env });
  }

  /** Starts a worker that kills itself at `<workflow>:<step>:<before|after|committed>`. */
  async startWorkerThatCrashes(point: string): Promise<void> {
    const env = { ...this.environment(), TEST_CRASH_POINT: point };
    await this.worker.start(env, ['--require', CRASH_POINT_HOOK]);
  }

  /** Starts a second worker; the returned function ends it. */
  async startSecondWorker(): Promise<() => Promise<void>> {
    const log = join(ROOT, '.runtime', 'test-logs', `${this.options.name}.worker-2.log`);
    const second = new ManagedProcess('second worker', join('dist', 'worker.js'), log);
    await second.start(this.environment());
    return () => second.stop();
  }

  async stopWorker(): Promise<void> {
    await this.worker.stop();
  }

  async killWorker(): Promise<void> {
    await this.worker.kill();
  }

  /** Waits until the worker ends by itself, such as at a crash point; returns the signal that ended it. */
  async workerEnded(timeoutMs = 240_000): Promise<NodeJS.Signals | null> {
    await eventually(() => !this.worker.running, { timeoutMs, what: 'the end of the worker' });
    return this.worker.endedBy;
  }

  /** Sends SIGTERM to the worker without waiting for its end. */
  askWorkerToEnd(): void {
    if (this.worker.pid !== undefined) process.kill(this.worker.pid, 'SIGTERM');
  }

  async waitHealthy(timeoutMs = HEALTHY_TIMEOUT_MS): Promise<void> {
    const probe = async () => {
      if (!this.api.running) return 'ended';
      for (const url of new Set([this.baseUrl, this.agentsUrl])) {
        const response = await fetch(`${url}/api/v1/healthCheck`, { signal: AbortSignal.timeout(30_000) });
        if (response.status !== 200) throw new Error(`${response.status} ${(await response.text()).slice(0, 300)}`);
      }
      return 'healthy';
    };
    const state = await eventually(probe, { timeoutMs, what: 'a healthy API' });
    if (state === 'ended') throw new Error(`The API ended while it started.\n${this.apiLog().slice(-4000)}`);
  }

  /** Returns a client logged in as the platform's administrator, with the first tenant selected. */
  async admin(): Promise<ApiClient> {
    const client = this.anonymous();
    await client.loginToTenant(this.username, this.password);
    return client;
  }

  /** Wipes a Redis that no other test file uses, as the loss of a server would. */
  async wipeRedis(url: string): Promise<void> {
    const redis = new Redis(url, { maxRetriesPerRequest: 2 });
    try {
      await redis.flushall();
    } finally {
      redis.disconnect();
    }
  }

  /** Process ids of the API, the API of agents and the worker, without those that do not run. */
  get pids(): number[] {
    return [this.api.pid, this.agents?.pid, this.worker.pid].filter((pid) => pid !== undefined);
  }

  nodeProcesses(): Promise<NodeProcess[]> {
    return Promise.resolve(this.processesNaming().filter(({ pid }) => !this.pids.includes(pid)));
  }

  nodeFolders(): Promise<string[]> {
    return Promise.resolve(this.foldersOfNodes());
  }

  /** Lets the processes outlive this one; returns their addresses and ids for the files that share them and for their end. */
  async leave(): Promise<RunningPlatform> {
    for (const one of [this.api, this.agents, this.worker]) one?.unref();
    await this.database.end();
    // The worker ends first, as in `close`.
    return { site: this.site, pids: this.pids.reverse() };
  }

  /** Ends everything this platform started; throws if processes are left that its driver does not know. */
  async close(): Promise<void> {
    const problems: unknown[] = [];
    const attempt = async (action: () => unknown) => {
      try {
        await action();
      } catch (error) {
        problems.push(error);
      }
    };
    // The worker ends first, because it would take ended nodes for lost ones.
    await attempt(() => this.worker.stop());
    await attempt(() => this.stopApi());
    await attempt(() => stopAllLocalNodes(this.localDir));
    await attempt(() => this.assertNothingLeft());
    await attempt(() => this.database.end());
    await attempt(() => this.testDatabase.drop());
    await attempt(() => rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
    if (problems.length === 1) throw problems[0];
    if (problems.length > 1) throw new AggregateError(problems, problems.map(String).join('\n'));
  }

  private readonly keys = {
    AUTH_JWT_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    SECRETS_MASTER_KEYS: `m1:${randomBytes(32).toString('base64')}`,
    REDIS_PREFIX: `e2e-${randomBytes(6).toString('hex')}`,
  };

  /** Secrets that only the platform's processes may have. */
  get secrets(): string[] {
    const { AUTH_JWT_KEYS, SECRETS_MASTER_KEYS } = this.keys;
    const texts = [AUTH_JWT_KEYS, SECRETS_MASTER_KEYS].map((key) => key.slice(3));
    return [...texts, this.password, this.databaseUrl, required('TEST_REDIS_URL')];
  }

  private environment(): Environment {
    const inherited = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ'].map((name) => [name, process.env[name]] as const);
    return {
      ...Object.fromEntries(inherited.filter((entry): entry is [string, string] => entry[1] !== undefined)),
      ...this.keys,
      NODE_ENV: 'test',
      PRODUCT_NAME: 'PLATFORM',
      LOG_LEVEL: 'info',
      // Building the documentation takes 0.7 s of the 4.4 s of CPU that an API needs to start.
      API_DOCS: 'false',
      CONSOLE: 'false',
      DATABASE_URL: this.databaseUrl,
      // The timeout is long, so that a busy machine fails no transaction that waits for a lock.
      DATABASE_LOCK_TIMEOUT_MS: '25000',
      REDIS_URL: required('TEST_REDIS_URL'),
      HOST: '127.0.0.1',
      PORT: String(this.port),
      DATA_DIR: this.dataDir,
      BOOTSTRAP_ADMIN_PASSWORD: this.password,
      OUTBOUND_SCHEMES: 'https,http',
      OUTBOUND_ADDRESSES: 'private,loopback',
      COMPUTE_LOCAL_ENABLED: 'true',
      COMPUTE_LOCAL_DIR: this.localDir,
      ...this.runtime.variables,
      COMPUTE_LOCAL_JAVA_HOME: this.runtime.javaHome,
      COMPUTE_LOCAL_PYTHON: this.runtime.python,
      COMPUTE_LOCAL_SHARED_DIRS: this.sharedDir,
      COMPUTE_LOCAL_BUBBLEWRAP: this.runtime.bubblewrap ?? '',
      AGENT_API_URL: this.agentsUrl,
      // A driver waits only while the machine is idle, and most tests need runs that start alike.
      COMPUTE_WARM_DRIVERS: '0',
      ...this.options.env,
    };
  }
}

/** One of the built programs. Each test file begins a new log, and each start appends to it. */
class ManagedProcess {
  private child: ChildProcess | null = null;

  constructor(
    private readonly title: string,
    private readonly entry: string,
    private readonly logFile: string,
    private readonly command: readonly string[] = [],
  ) {
    rmSync(logFile, { force: true });
  }

  get running(): boolean {
    return this.child !== null && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** The signal that ended the last run of the program, or null. */
  get endedBy(): NodeJS.Signals | null {
    return this.child?.signalCode ?? null;
  }

  get pid(): number | undefined {
    return this.running ? this.child?.pid : undefined;
  }

  async start(env: Environment, nodeOptions: readonly string[] = []): Promise<void> {
    if (this.running) throw new Error(`The ${this.title} is running already.`);
    const log = openSync(this.logFile, 'a');
    const [program = '', ...args] = [...this.command, process.execPath, ...nodeOptions, join(ROOT, this.entry)];
    this.child = spawn(program, args, { cwd: ROOT, env, stdio: ['ignore', log, log] });
    closeSync(log);
    await once(this.child, 'spawn');
  }

  /** Sends SIGTERM; throws if the process does not end in time or exits with a failure. */
  async stop(): Promise<void> {
    const child = this.child;
    if (!child || !this.running) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await ended;
    clearTimeout(timer);
    if (child.exitCode === 0 || child.signalCode === 'SIGTERM') return;
    const how = child.signalCode ? `only by ${child.signalCode}` : `with status ${child.exitCode}`;
    throw new Error(`The ${this.title} was asked to end and did so ${how}.\n${this.log().slice(-2000)}`);
  }

  async kill(): Promise<void> {
    const child = this.child;
    if (!child || !this.running) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  log(): string {
    return textOf(this.logFile);
  }

  /** Lets this process end before the program does. */
  unref(): void {
    this.child?.unref();
  }
}

function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/** Reads the runtime that jest.config.cjs prepared. */
export function readRuntime(): TestRuntime {
  return JSON.parse(readFileSync(required('TEST_RUNTIME_JSON'), 'utf8')) as TestRuntime;
}

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: jest.config.cjs prepares it`);
  return value;
}

/** @param wanted receives the command line and the environment */
function processesWhere(wanted: (text: string) => boolean): NodeProcess[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.flatMap((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
      const isWanted = pid !== process.pid && command !== '' && wanted(`${command}\0${environment}`);
      return isWanted ? [{ pid, command: command.slice(0, 300) }] : [];
    } catch {
      return [];
    }
  });
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}
