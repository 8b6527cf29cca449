import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { parseTrusted } from '../../json/parse-json';
import type { AgentConfig } from '../../node-agent/config';
import { removeTrees } from '../../node-agent/files';
import { pause } from '../../node-agent/waiting';
import {
  identify,
  isAlive,
  isOwnProcess,
  type LiveProcess,
  markedProcesses,
  NODE_MARK,
  type NodeOwner,
  type ProcessId,
  nodeProcesses,
  signal,
  tryLock,
} from '../../node-agent/processes';
import { type Confinement, folderMode } from '../../node-agent/sandbox';
import {
  ComputeDriverError,
  type ComputeDriver,
  type DriverContext,
  goneNode,
  type Market,
  type NodeRef,
  type NodeSpec,
  type OnSite,
  type OwnedScope,
  type OwnershipLabels,
  type ProviderNode,
  type ProviderNodeState,
  type SweepScope,
  type SweepResult,
} from '../compute-driver';
import { installedVersion, isVersion } from '../../spark/installed-version';
import { removeOrphans } from '../sweep';
import { asDriverError } from './driver-error';
import { LocalFolder } from './local-folder';
import { type InstalledSpark, LocalSparks, type SparkInstallerOptions } from './local-sparks';
import { MACHINE_REGISTRY, MachineRegistry } from './machine-registry';

/** Paths of the programs that nodes need, and settings. All paths are absolute. */
export interface LocalDriverOptions {
  /** Holds one directory per node. */
  dir: string;
  /** The installed Sparks by version. */
  sparks: Readonly<Record<string, InstalledSpark>>;
  /** Installs further Sparks when nodes need them; null if only the installed ones can be used. */
  sparkInstaller: SparkInstallerOptions | null;
  javaHome: string;
  python: string;
  /** Isolation of users' code from the machine, from its node and from other users' code. */
  confinement: Confinement;
  /** Folders of the machine that jobs of all nodes can see, subject to file permissions. */
  sharedDirs: string[];
  /** URL at which agents reach the control plane. */
  agentApiUrl: string;
  /** The compiled agent, `dist/libs/node-agent/main.js`. */
  agentEntry: string;
  nodeExecutable?: string;
  bindAddress?: string;
  /** Folder in which the drivers of this machine register their nodes. */
  machineRegistry?: string;
}

/** Record of a node, which the driver writes before anything of the node runs. */
interface NodeRecord {
  labels: OwnershipLabels;
  nodeNumber: number;
  attempt: number;
  market: Market;
  machineType: string;
  cores: number;
  memoryMb: number;
  sparkVersion: string;
  userLabels: Readonly<Record<string, string>>;
  /** ISO 8601. */
  createdAt: string;
}

/** Records of nodes from earlier releases lack some fields. */
type EarlierRecord = NodeRecord | (Omit<NodeRecord, 'attempt' | 'market' | 'createdAt'> & { attempt?: undefined });

const NODE_FILE = 'node.json';
const AGENT_FILE = 'agent.json';
const STOPPED_FILE = 'stopped';
const INTERRUPTED_FILE = 'interrupted';
/** The interruption notice that the agent reads, with `detail` and `ends_at`. */
const NOTICE_FILE = 'interruption.json';
const SUPERVISOR = 'node-supervisor';
/** Time for an agent to end its runs and to report their end, milliseconds. */
const STOP_TIMEOUT_MS = 8_000;
const DESTROY_TIMEOUT_MS = 1_000;
const KILL_TIMEOUT_MS = 10_000;
const LOCK_TIMEOUT_MS = 60_000;
const LOOPBACK = '127.0.0.1';
/** Addresses from 127.0.0.1 to 127.0.255.254. */
const LOOPBACK_ADDRESSES = 65_534;
/** One user id is for the node's daemons, the others are for runs. */
const UIDS_PER_NODE = 128;

/**
 * Runs the agent, and restarts it when it dies; exit codes 0 and 86 mean that the agent ended on purpose. A signal to end is
 * passed on to the agent, for which the script waits. Arguments: node executable, agent entry, configuration.
 */
const SUPERVISOR_SCRIPT = `
trap 'asked=1; kill -TERM "$agent" 2>/dev/null' TERM INT HUP
while [ -z "$asked" ]; do
  "$1" "$2" "$3" >>data/logs/stdout 2>>data/logs/stderr &
  agent=$!
  wait "$agent"; code=$?
  while kill -0 "$agent" 2>/dev/null; do wait "$agent"; code=$?; done
  case $code in 0|86) exit "$code" ;; esac
  [ -n "$asked" ] || sleep 0.5
done
`;

/** Runs nodes as process groups on this machine, each with its own directory: for tests, trials and on-premises machines. */
export class LocalDriver implements ComputeDriver, OnSite {
  readonly name = 'local';
  readonly onSite: OnSite = this;
  private readonly nodeExecutable: string;
  private readonly bindAddress: string;
  /** Supervisors as they were last seen, by node token. */
  private readonly supervisorIds = new Map<string, ProcessId>();
  /** The last allocation of users to a node. */
  private queue: Promise<unknown> = Promise.resolve();
  private readonly registry: MachineRegistry;
  private readonly folder: LocalFolder;
  private readonly sparks: LocalSparks;

  constructor(private readonly options: LocalDriverOptions) {
    this.folder = new LocalFolder(options.dir);
    this.sparks = new LocalSparks(options.sparks, options.sparkInstaller);
    this.registry = new MachineRegistry(options.machineRegistry ?? MACHINE_REGISTRY);
    this.nodeExecutable = options.nodeExecutable ?? process.execPath;
    this.bindAddress = options.bindAddress ?? LOOPBACK;
  }

  async provision(spec: NodeSpec, context: DriverContext): Promise<ProviderNode> {
    const token = spec.labels.nodeToken;
    await this.checkRuntime(spec.boot.sparkVersion);
    await this.checkAccelerator(spec);
    return this.withNodeLock(token, context, async () => {
      const dir = this.nodeDir(token);
      const record = await readRecord(dir);
      if (record === null) await this.createNode(dir, spec, context);
      else if (record.attempt !== spec.attempt) {
        const message = `The folder of attempt ${record.attempt} of node ${token} still exists. The new node is created once it is removed.`;
        throw new ComputeDriverError('LOCAL.EARLIER_ATTEMPT', message, { kind: 'transient' });
      }
      if (shouldRun(dir)) await this.startSupervisor(dir);
      return this.describeOne(token);
    });
  }

  async describe(refs: readonly Pick<NodeRef, 'nodeToken'>[]): Promise<ProviderNode[]> {
    const alive = this.supervisors();
    return Promise.all(refs.map(({ nodeToken }) => this.describeOne(nodeToken, alive)));
  }

  /** A stopped node keeps its folder, so every node can be stopped, even a spot node. */
  canStop(): boolean {
    return true;
  }

  async stop({ nodeToken }: Pick<NodeRef, 'nodeToken'>, context: DriverContext): Promise<'stopped'> {
    await this.withNodeLock(nodeToken, context, async () => {
      const dir = this.nodeDir(nodeToken);
      if (!existsSync(`${dir}/${NODE_FILE}`)) return;
      // The file is written first. If the driver dies half-way, nothing revives the node, and the next stop finishes it.
      await writeFile(`${dir}/${STOPPED_FILE}`, '');
      await endProcesses(dir, STOP_TIMEOUT_MS);
    });
    return 'stopped';
  }

  async start({ nodeToken }: Pick<NodeRef, 'nodeToken'>, context: DriverContext): Promise<ProviderNode> {
    return this.withNodeLock(nodeToken, context, async () => {
      const dir = this.nodeDir(nodeToken);
      const record = await readRecord(dir);
      if (!record)
        throw new ComputeDriverError('LOCAL.NODE_GONE', `Node ${nodeToken} no longer exists.`, { kind: 'invalid' });
      if (existsSync(`${dir}/${INTERRUPTED_FILE}`)) throw interruption(nodeToken);
      await this.checkRuntime(record.sparkVersion);
      // Nothing of the node runs, so its users can change.
      if (existsSync(`${dir}/${STOPPED_FILE}`)) await this.updateConfinement(dir, record, context);
      for (const file of [NOTICE_FILE, STOPPED_FILE]) await rm(`${dir}/${file}`, { force: true });
      await this.startSupervisor(dir);
      return this.describeOne(nodeToken);
    });
  }

  async revive({ nodeToken }: Pick<NodeRef, 'nodeToken'>, context: DriverContext): Promise<void> {
    await this.withNodeLock(nodeToken, context, async () => {
      const dir = this.nodeDir(nodeToken);
      if (existsSync(`${dir}/${NODE_FILE}`) && shouldRun(dir)) await this.startSupervisor(dir);
    });
  }

  async destroy({ nodeToken }: Pick<NodeRef, 'nodeToken'>, context: DriverContext): Promise<'gone'> {
    await this.withNodeLock(nodeToken, context, async () => {
      const dir = this.nodeDir(nodeToken);
      this.supervisorIds.delete(nodeToken);
      await endProcesses(dir, DESTROY_TIMEOUT_MS);
      // The folder is moved aside first, so that an interrupted removal leaves no incomplete node. The next destroy finishes it.
      const gone = trashPath(dir);
      await removeTrees([draftPath(dir), gone]);
      if (existsSync(dir)) await rename(dir, gone);
      await removeTrees([gone]);
      // Calls that wait for the lock find the node gone. Another attempt is created only after the last destroy.
      await rm(lockPath(dir), { force: true });
    });
    return 'gone';
  }

  async listOwned({ installationId }: Pick<OwnedScope, 'installationId'>): Promise<ProviderNode[]> {
    const all = await this.describe((await nodeNames(this.options.dir)).map((nodeToken) => ({ nodeToken })));
    return all.filter(({ state, labels }) => state !== 'gone' && labels.installationId === installationId);
  }

  /**
   * Also removes what an interrupted provision or removal has left behind. It has no record, so it belongs to no
   * installation.
   */
  async sweep(scope: SweepScope, context: DriverContext): Promise<SweepResult> {
    const machines = (await this.listOwned(scope)).map(({ labels, createdAt }) => ({ ...labels, createdAt }));
    const swept = await removeOrphans(machines, scope, context, {
      remove: async ([one]) => one && (await this.destroy(one, context)),
    });
    for (const nodeToken of await this.leftovers(scope)) {
      if (context.signal.aborted) break;
      try {
        if (await this.removeLeftovers(nodeToken, context)) swept.removed.push(nodeToken);
      } catch (error) {
        swept.failed.push({ nodeToken, error });
      }
    }
    return swept;
  }

  /**
   * Interrupts a spot node as a provider would, for tests: announces the interruption, and after `noticeMs` ends the node for
   * good. Does nothing more if the signal aborts before.
   */
  async interrupt({ nodeToken }: Pick<NodeRef, 'nodeToken'>, context: DriverContext, noticeMs = 0): Promise<void> {
    const dir = this.nodeDir(nodeToken);
    const assertSpot = async (): Promise<void> => {
      const record = await readRecord(dir);
      if (record?.market === 'spot') return;
      const message = `Node ${nodeToken} is not a spot node, so it cannot be interrupted.`;
      throw new ComputeDriverError('LOCAL.NOT_SPOT', message, { kind: 'invalid' });
    };
    await this.withNodeLock(nodeToken, context, async () => {
      await assertSpot();
      const ends_at = new Date(Date.now() + noticeMs).toISOString();
      const notice = { detail: `The spot node ${nodeToken} is about to be interrupted.`, ends_at };
      await writeFile(`${dir}/${NOTICE_FILE}.new`, JSON.stringify(notice), { mode: 0o600 });
      await rename(`${dir}/${NOTICE_FILE}.new`, `${dir}/${NOTICE_FILE}`);
    });
    // Another call may end the node meanwhile.
    if (noticeMs > 0) await pause(noticeMs, context.signal);
    if (context.signal.aborted || !existsSync(dir)) return;
    await this.withNodeLock(nodeToken, context, async () => {
      await assertSpot();
      // The file is written first, as in stop.
      await writeFile(`${dir}/${INTERRUPTED_FILE}`, '');
      await endProcesses(dir, DESTROY_TIMEOUT_MS);
    });
  }

  reference(nodeToken: string): Promise<string> {
    return this.folder.reference(nodeToken);
  }

  assertHere(references: readonly string[]): Promise<void> {
    return this.folder.assertHolds(references);
  }

  async listDownNodes(): Promise<string[]> {
    const { dir } = this.options;
    const names = await nodeNames(dir);
    const wanted = names.filter((name) => !existsSync(`${dir}/${name}/${STOPPED_FILE}`));
    const isUp = (name: string): boolean => {
      const supervisor = this.supervisorIds.get(name);
      return supervisor !== undefined && isAlive(supervisor);
    };
    const ended = wanted.filter((name) => !isUp(name));
    const vanished = [...this.supervisorIds.keys()].filter((name) => !names.includes(name) && !isUp(name));
    if (ended.length === 0 && vanished.length === 0) return [];
    const alive = this.supervisors();
    for (const name of ended) {
      const supervisor = identify(alive.get(`${dir}/${name}/data`) ?? 0);
      if (supervisor) this.supervisorIds.set(name, supervisor);
    }
    for (const name of vanished) this.supervisorIds.delete(name);
    // Processes of a node without a directory may still run. It is down once none of them does.
    const works = new Set(vanished.length > 0 ? markedProcesses(() => true).map(({ nodeDir }) => nodeDir) : []);
    return [...ended.filter((name) => !isUp(name)), ...vanished.filter((name) => !works.has(`${dir}/${name}/data`))];
  }

  private nodeDir(token: string): string {
    if (!/^[\w-][\w.-]{0,199}$/.test(token))
      throw new ComputeDriverError(
        'LOCAL.INVALID_TOKEN',
        `The node token "${token.slice(0, 60)}" is not a valid name of a folder.`,
        { kind: 'invalid' },
      );
    return `${this.options.dir}/${token}`;
  }

  private async checkAccelerator({ boot: { accelerator, sparkVersion } }: NodeSpec): Promise<void> {
    const { turbo } = await this.sparks.get(sparkVersion);
    const isMissing = accelerator === 'cuda' || (accelerator === 'turbo' && !existsSync(turbo ?? ''));
    if (!isMissing) return;
    const message =
      accelerator === 'cuda'
        ? 'Local nodes have no GPUs. Use a cloud environment whose machines have one.'
        : `Turbo for Spark ${sparkVersion} is not installed for local nodes. Name its jar in COMPUTE_LOCAL_TURBO.`;
    throw new ComputeDriverError('LOCAL.ACCELERATOR_UNAVAILABLE', message, { kind: 'invalid' });
  }

  private async checkRuntime(sparkVersion: string): Promise<void> {
    const { home: sparkHome } = await this.sparks.get(sparkVersion);
    const { javaHome, python, agentEntry } = this.options;
    const needed: [string, string, number][] = [
      ['JAVA', `${javaHome}/bin/java`, constants.X_OK],
      ['SPARK', `${sparkHome}/bin/spark-submit`, constants.X_OK],
      ['PYTHON', python, constants.X_OK],
      ['NODE', this.nodeExecutable, constants.X_OK],
      ['AGENT', agentEntry, constants.R_OK],
    ];
    for (const [what, path, mode] of needed)
      try {
        accessSync(path, mode);
      } catch (cause) {
        const code = (cause as NodeJS.ErrnoException).code ?? 'no access';
        const message = `A local node needs ${path}, which the worker cannot use (${code}).`;
        throw new ComputeDriverError(`LOCAL.${what}_UNAVAILABLE`, message, { kind: 'invalid', cause });
      }
    const installed = await installedVersion(sparkHome);
    if (installed !== null && isVersion(installed, sparkVersion)) return;
    const found = installed === null ? 'no Spark (jars/spark-core_*.jar)' : `Spark ${installed}`;
    const message = `The node needs Spark ${sparkVersion}, but ${sparkHome} has ${found}. Install Spark ${sparkVersion} in a folder of its own and name it in COMPUTE_LOCAL_SPARK_HOMES.`;
    throw new ComputeDriverError('LOCAL.SPARK_REPLACED', message, { kind: 'invalid' });
  }

  /** Creates a node under another name first, so that a directory with the node's name is always complete. */
  private async createNode(dir: string, spec: NodeSpec, context: DriverContext): Promise<void> {
    const draft = draftPath(dir);
    const { labels, nodeNumber, attempt, market, machine, userLabels } = spec;
    const { sparkVersion, bootstrapToken: bootstrap_token } = spec.boot;
    const { type: machineType, cores, memoryMb } = machine;
    const record: NodeRecord = {
      ...{ labels, nodeNumber, attempt, market, machineType, cores, memoryMb, sparkVersion, userLabels },
      createdAt: new Date().toISOString(),
    };
    const spark = await this.sparks.get(sparkVersion);
    try {
      // An interrupted provision may have left a draft with a bootstrap token.
      await removeTrees([draft]);
      await mkdir(`${draft}/data/logs`, { recursive: true, mode: 0o700 });
      for (const folder of [dirname(dir), draft]) await chmod(folder, folderMode(this.options.confinement));
      await writeFile(`${draft}/${NODE_FILE}`, JSON.stringify(record), { mode: 0o600 });
      // The rest of an interrupted removal has no record, so it is not a node.
      await removeTrees([dir]);
      await this.withConfinement(context, async (confinement) => {
        const config = { ...this.agentConfig(dir, record, spark), bootstrap_token, confinement };
        await writeFile(`${draft}/${AGENT_FILE}`, JSON.stringify(config), { mode: 0o600 });
        await rename(draft, dir);
      });
    } catch (error) {
      await removeTrees([draft]).catch(() => undefined);
      throw error;
    }
  }

  /** Gives a stopped node the confinement of a new node. */
  private async updateConfinement(dir: string, record: NodeRecord, context: DriverContext): Promise<void> {
    const had = (await readConfig(dir)).confinement;
    const make = async (confinement: Confinement): Promise<void> => {
      await chmod(dir, folderMode(confinement));
      await this.writeConfig(dir, record, { confinement });
    };
    await this.withConfinement(context, make, { dir, range: had?.kind === 'users' ? rangeOf(had) : null });
  }

  /** Rewrites the agent's configuration for this release. Keeps other fields unless `changes` replaces them. */
  private async writeConfig(dir: string, record: NodeRecord, changes: Partial<AgentConfig> = {}): Promise<void> {
    const spark = await this.sparks.get(record.sparkVersion);
    const config = { ...(await readConfig(dir)), ...this.agentConfig(dir, record, spark), ...changes };
    await writeFile(`${dir}/${AGENT_FILE}.new`, JSON.stringify(config), { mode: 0o600 });
    await rename(`${dir}/${AGENT_FILE}.new`, `${dir}/${AGENT_FILE}`);
  }

  private agentConfig(
    dir: string,
    { sparkVersion, cores, memoryMb, nodeNumber }: NodeRecord,
    spark: InstalledSpark,
  ): Omit<AgentConfig, 'bootstrap_token'> {
    const address = this.addressOf(nodeNumber);
    return {
      api_url: this.options.agentApiUrl,
      node_dir: `${dir}/data`,
      spark_home: spark.home,
      java_home: this.options.javaHome,
      python: this.options.python,
      class_archive: spark.classArchive,
      connectors: spark.connectors,
      scala_kernel: spark.scalaKernel,
      turbo: spark.turbo,
      spark_version: sparkVersion,
      cores,
      memory_mb: memoryMb,
      shares_machine: true,
      bind_address: address,
      // Without it, Spark would announce the name and address of the machine, which nodes share.
      env: { SPARK_LOCAL_IP: address },
      shared_dirs: this.options.sharedDirs,
      interruption_notice: { kind: 'file', path: `${dir}/${NOTICE_FILE}` },
    };
  }

  /**
   * Each node of a cluster gets its own loopback address. Spark takes workers with the same address for one machine, and would
   * drop the data of all of them when one is lost.
   */
  private addressOf(nodeNumber: number): string {
    if (this.bindAddress !== LOOPBACK) return this.bindAddress;
    const number = 1 + (nodeNumber % LOOPBACK_ADDRESSES);
    return `127.0.${number >> 8}.${number & 255}`;
  }

  /**
   * Calls `use` with users that no other node on this machine has, of any installation, because a node ends all processes of
   * its users. No other node gets users meanwhile.
   * @param before the existing node and its users, which it keeps unless another node has them, too
   */
  private async withConfinement(
    context: DriverContext,
    use: (confinement: Confinement) => Promise<void>,
    before: { dir: string; range: UserRange | null } | null = null,
  ): Promise<void> {
    const { confinement, dir } = this.options;
    if (confinement.kind !== 'users') return use(confinement);
    await this.registry.prepare();
    // Nodes of this process wait for each other here, because each try for the file lock starts a process.
    await this.enqueue(() =>
      this.withLock(this.registry.lockFile, context, async () => {
        const own = before && `${await realpath(dir)}/${basename(before.dir)}`;
        const taken = (await rangesIn(await this.registry.add(dir))).filter(({ node }) => node !== own);
        const isFree = (range: UserRange): boolean => taken.every((other) => !overlap(other.range, range));
        if (before?.range && isFree(before.range)) return use({ ...confinement, ...before.range });
        const blocks = Math.floor(confinement.uids / UIDS_PER_NODE);
        for (let block = 0; block < blocks; block++) {
          const range = { firstUid: confinement.firstUid + block * UIDS_PER_NODE, uids: UIDS_PER_NODE };
          if (isFree(range)) return use({ ...confinement, ...range });
        }
        const message = `The user ids of COMPUTE_LOCAL_UIDS suffice for ${blocks} nodes on this machine, and all of them are in use. Widen the range, or terminate clusters.`;
        throw new ComputeDriverError('LOCAL.USERS_EXHAUSTED', message, { kind: 'capacity' });
      }),
    );
  }

  /** Starts the work once all earlier work has ended, even if it failed. Each piece of work has its own deadline. */
  private enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.queue.then(work);
    this.queue = done.catch(() => undefined);
    return done;
  }

  private supervisors(): Map<string, number> {
    const found = markedProcesses((nodeDir) => dirname(dirname(nodeDir)) === this.options.dir);
    return new Map(found.filter(isSupervisor).map(({ nodeDir, pid }) => [nodeDir, pid]));
  }

  /**
   * Starts the node's supervisor unless it runs, with the configuration of this release. Ends an agent that outlived its
   * supervisor, but not its runs.
   */
  private async startSupervisor(dir: string): Promise<void> {
    const marked = markedProcesses((nodeDir) => nodeDir === `${dir}/data`);
    if (marked.some(isSupervisor)) return;
    const record = await readRecord(dir);
    if (!record) return;
    await this.checkRuntime(record.sparkVersion);
    await this.writeConfig(dir, record);
    const { agentEntry } = this.options;
    for (const { argv, pid } of marked) if (argv.includes(agentEntry) && isOwnProcess(pid)) signal(pid, 'SIGKILL');
    const child = spawn(
      '/bin/sh',
      ['-c', SUPERVISOR_SCRIPT, SUPERVISOR, this.nodeExecutable, agentEntry, `${dir}/${AGENT_FILE}`],
      {
        cwd: dir,
        detached: true,
        stdio: 'ignore',
        env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: dir, LANG: 'C.UTF-8', [NODE_MARK]: `${dir}/data` },
      },
    );
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    child.unref();
  }

  private async describeOne(token: string, alive = this.supervisors()): Promise<ProviderNode> {
    const dir = this.nodeDir(token);
    const record = await readRecord(dir);
    if (!record) return goneNode(token);
    const providerRef = await this.reference(token);
    const node = (state: ProviderNodeState, fault: ComputeDriverError | null = null): ProviderNode => ({
      labels: record.labels,
      providerRef,
      state,
      privateIp: state === 'running' ? this.addressOf(record.nodeNumber) : null,
      publicIp: null,
      createdAt: new Date(record.createdAt),
      fault,
    });
    if (existsSync(`${dir}/${INTERRUPTED_FILE}`)) return node('interrupted', interruption(token));
    if (existsSync(`${dir}/${STOPPED_FILE}`)) return node('stopped');
    if (alive.has(`${dir}/data`)) return node('running');
    const message = 'The supervisor process of the node has ended.';
    return node('failed', new ComputeDriverError('LOCAL.NODE_DOWN', message, { kind: 'transient' }));
  }

  /** Returns the tokens of old leftovers of interrupted provisions and removals. */
  private async leftovers({ olderThan }: SweepScope): Promise<Set<string>> {
    const { dir } = this.options;
    const tokens = new Set<string>();
    for (const name of await entriesOf(dir)) {
      const token = /^\.(?:new|gone)-(.+)$/.exec(name)?.[1];
      if (token === undefined) continue;
      const { mtime } = await stat(`${dir}/${name}`).catch(() => ({ mtime: new Date() }));
      if (mtime < olderThan) tokens.add(token);
    }
    return tokens;
  }

  /** Returns false if another call has removed them meanwhile, or the node exists. */
  private async removeLeftovers(token: string, context: DriverContext): Promise<boolean> {
    return this.withNodeLock(token, context, async () => {
      const dir = this.nodeDir(token);
      const left = [draftPath(dir), trashPath(dir)].filter((path) => existsSync(path));
      await removeTrees(left);
      if (existsSync(dir)) return false;
      await rm(lockPath(dir), { force: true });
      return left.length > 0;
    });
  }

  /** Runs one call at a time per node, across all processes. */
  private async withNodeLock<T>(token: string, context: DriverContext, work: () => Promise<T>): Promise<T> {
    const lock = lockPath(this.nodeDir(token));
    try {
      await mkdir(dirname(lock), { recursive: true, mode: 0o700 });
      return await this.withLock(lock, context, work);
    } catch (error) {
      throw asDriverError(error, this.options.dir);
    }
  }

  private async withLock<T>(lock: string, context: DriverContext, work: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + LOCK_TIMEOUT_MS;
    for (;;) {
      const release = await tryLock(lock);
      if (release) {
        try {
          return await work();
        } finally {
          await release();
        }
      }
      if (context.signal.aborted || performance.now() > deadline)
        throw new ComputeDriverError(
          'LOCAL.BUSY',
          `Another call for the node is still running and holds the lock ${basename(lock)}.`,
          { kind: 'transient' },
        );
      await pause(20);
    }
  }
}

/** Ends all processes of all nodes under `dir`. Keeps the directories, from which the nodes can be started again. */
export async function stopAllLocalNodes(dir: string): Promise<void> {
  const names = await nodeNames(dir);
  await Promise.all(names.map((name) => endProcesses(`${dir}/${name}`, STOP_TIMEOUT_MS)));
}

/** Ignores jobs in a sandbox, which can choose their command line. */
function isSupervisor({ argv, pid }: Pick<LiveProcess, 'argv' | 'pid'>): boolean {
  return argv.includes(SUPERVISOR) && isOwnProcess(pid);
}

interface UserRange {
  firstUid: number;
  uids: number;
}

function rangeOf({ firstUid, uids }: UserRange): UserRange {
  return { firstUid, uids };
}

function overlap(one: UserRange, other: UserRange): boolean {
  return one.firstUid < other.firstUid + other.uids && other.firstUid < one.firstUid + one.uids;
}

/** Reads the users of all nodes in these folders, whose paths contain no links. */
async function rangesIn(folders: readonly string[]): Promise<{ node: string; range: UserRange }[]> {
  const found: { node: string; range: UserRange }[] = [];
  for (const folder of folders)
    for (const name of await nodeNames(folder)) {
      const node = `${folder}/${name}`;
      const { confinement } = await readConfig(node);
      if (confinement?.kind === 'users') found.push({ node, range: rangeOf(confinement) });
    }
  return found;
}

/** Sends SIGTERM to the node's supervisor, which ends agent, runs and daemons. Kills the processes left after `politeMs`. */
async function endProcesses(dir: string, politeMs: number): Promise<void> {
  const { confinement } = await readConfig(dir);
  const uids = confinement?.kind === 'users' ? { first: confinement.firstUid, count: confinement.uids } : null;
  const owner: NodeOwner = { nodeDir: `${dir}/data`, uids };
  const find = (): LiveProcess[] => nodeProcesses(owner);
  const signaled = new Set<number>();
  const start = performance.now();
  for (;;) {
    const found = find();
    if (found.length === 0) return;
    const supervised = found.filter(isSupervisor);
    const elapsed = performance.now() - start;
    for (const process of supervised)
      if (!signaled.has(process.pid)) {
        signaled.add(process.pid);
        signal(process.pid, 'SIGTERM');
      }
    // Without a supervisor, nothing ends them gracefully.
    if (supervised.length === 0 || elapsed > politeMs) for (const process of found) signal(process.pid, 'SIGKILL');
    if (elapsed > politeMs + KILL_TIMEOUT_MS) {
      const message = `Processes of the node did not end after SIGKILL: ${pids(found)}. Check them on the worker's machine.`;
      throw new ComputeDriverError('LOCAL.PROCESS_STUCK', message, { kind: 'transient' });
    }
    await pause(25);
  }
}

/** Returns the lock file of a node. It is outside the node's folder, because it is locked before the folder exists. */
function lockPath(dir: string): string {
  return `${dirname(dir)}/.${basename(dir)}.lock`;
}

/** Returns the path to which the folder of a node is moved before it is removed. */
function trashPath(dir: string): string {
  return `${dirname(dir)}/.gone-${basename(dir)}`;
}

/** Returns the path at which a node is created before it gets its name. The node's lock covers it. */
function draftPath(dir: string): string {
  return `${dirname(dir)}/.new-${basename(dir)}`;
}

const pids = (found: LiveProcess[]): string => found.map((process) => process.pid).join(', ');

async function readRecord(dir: string): Promise<NodeRecord | null> {
  const file = `${dir}/${NODE_FILE}`;
  try {
    const record = parseTrusted<EarlierRecord>(await readFile(file, 'utf8'));
    if (record.attempt !== undefined) return record;
    // The record is from an earlier release, which had one attempt and did not record the installation.
    const { mtime } = await stat(file);
    const labels = { ...record.labels, installationId: '' };
    return { ...record, labels, attempt: 1, market: 'on-demand', createdAt: mtime.toISOString() };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

/** Reads the agent's configuration; empty if the node has none, as after an interrupted removal. */
async function readConfig(dir: string): Promise<Partial<AgentConfig>> {
  try {
    return parseTrusted<AgentConfig>(await readFile(`${dir}/${AGENT_FILE}`, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

async function nodeNames(dir: string): Promise<string[]> {
  const names = (await entriesOf(dir)).filter((name) => !name.startsWith('.'));
  return names.filter((name) => existsSync(`${dir}/${name}/${NODE_FILE}`));
}

async function entriesOf(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw asDriverError(error, dir);
  });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

/** True if the node has been neither stopped nor interrupted. */
function shouldRun(dir: string): boolean {
  return ![STOPPED_FILE, INTERRUPTED_FILE].some((file) => existsSync(`${dir}/${file}`));
}

function interruption(token: string): ComputeDriverError {
  return new ComputeDriverError('LOCAL.INTERRUPTED', `The spot node ${token} was interrupted.`, {
    kind: 'capacity',
    scope: 'zone',
  });
}
