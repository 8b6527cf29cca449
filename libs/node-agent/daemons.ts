import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { connect, createServer } from 'node:net';
import { resolve } from 'node:path';
import type { DesiredDaemons, NodeLoad, ObservedDaemons } from '../contracts/agent-protocol';
import { telltaleLine } from '../spark/daemon-end';
import { gpuDiscoveryScript, gpusOfWorker } from '../spark/accelerator';
import {
  masterCommand,
  parseMasterStatus,
  parseWorkerLoad,
  parseWorkerRegistered,
  UI_TOKEN_HEADER,
  workerCommand,
  type DaemonCommand,
  type DaemonSecrets,
  type MasterStatus,
  type WorkerPlace,
} from '../spark/daemon-command';
import { baseEnvironment, type SparkRuntime } from '../spark/submit-command';
import type { BoundedLog } from './bounded-log';
import { runBootstrapScript } from './bootstrap-script';
import { DaemonLoad, MIN_SAMPLE_INTERVAL_MS } from './daemon-load';
import { readJson, readTail, readText, writeJson } from './files';
import type { NodeLog } from './node-log';
import {
  identify,
  isAlive,
  killSession,
  processesIn,
  processesOf,
  signal,
  signalGroup,
  type LiveProcess,
  type NodeOwner,
  type ProcessId,
} from './processes';
import type { Sandbox } from './sandbox';
import type { Sandboxes } from './sandboxes';
import { Backoff, pause } from './waiting';

/** What the daemons need from their agent. */
export interface DaemonsContext {
  owner: NodeOwner;
  runtime: SparkRuntime;
  sandboxes: Sandboxes;
  bindAddress: string;
  env: Record<string, string>;
  log: NodeLog;
  /** The same log, as far as it is kept. */
  logs: { stdout: BoundedLog; stderr: BoundedLog };
  changed: (observed: ObservedDaemons) => void;
}

/** What the journal keeps of a daemon, so that a restarted agent finds it. */
interface DaemonJournal {
  process: ProcessId;
  port: number;
  web_ui_port: number;
  /** Master that a worker was told to join. */
  master_url: string | null;
  started_at: number;
  /** What its page requires; absent if an older agent started it. */
  ui_token?: string;
  /** Whether it knows the signal to move away what it holds; absent if an older agent started it. */
  can_drain?: boolean;
}

/** Of control planes that say nothing of it. */
const BOOTSTRAP_TIMEOUT_MS = 10 * 60_000;
const TAIL_BYTES = 4_000;
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** Crashes in a row after which the node counts as failed; it goes on trying. */
const CRASHES_TO_FAIL = 5;
/** A daemon that ran this long did not crash at once. */
const STEADY_MS = 30_000;
const STOP_GRACE_MS = 2_000;
/** Between two looks at ready daemons. */
const LOOK_MS = 5_000;
/** The same at a master, whose applications wait. */
const MASTER_LOOK_MS = 2_000;
const PAGE_DEADLINE_MS = 4_000;

/** Keeps the Spark daemons of the node as the control plane wants them. */
export class Daemons {
  private desired: DesiredDaemons | null = null;
  private observed: ObservedDaemons = { state: 'starting', master_url: null, error: null };
  private readonly loops = new Map<string, Daemon>();
  /** Names of daemons that are being ended; their successors wait for that. */
  private readonly retiring = new Set<string>();
  private bootstrapped: Promise<boolean> | null = null;
  private readonly stopping = new AbortController();
  private watching = false;
  /** Ends the pause between two checks when something has happened. */
  private waking = new AbortController();
  private readonly ofDaemons = new DaemonLoad();
  private draining = false;

  private readonly nodeDir: string;
  private readonly sandbox: Sandbox;

  constructor(private readonly context: DaemonsContext) {
    this.nodeDir = context.owner.nodeDir;
    mkdirSync(`${this.nodeDir}/daemons`, { recursive: true, mode: 0o700 });
    const dir = `${this.nodeDir}/spark`;
    this.sandbox = context.sandboxes.ofDaemons(dir);
    const made = JSON.stringify(context.sandboxes.confinement);
    // Not once it is there: daemons of an earlier agent may be at work in it.
    if (readText(`${dir}/made`) === made) return;
    rmSync(dir, { recursive: true, force: true });
    this.sandbox.make(['home', 'local', 'tmp', 'work']);
    this.sandbox.own();
    writeFileSync(`${dir}/made`, made);
  }

  get state(): ObservedDaemons {
    return this.observed;
  }

  /** What the daemons tell of their load; null while it is unknown, and on nodes that tell nothing. */
  get load(): NodeLoad | null {
    return this.ofDaemons.current;
  }

  /** Whether the node is there for its worker, which has executors of runs of other nodes. */
  get isWorker(): boolean {
    return this.desired?.role === 'worker';
  }

  /** Whether the worker that is to go has no executor left. */
  get isDrained(): boolean {
    return this.ofDaemons.isDrained;
  }

  /** Has the worker move what its executors hold to others and take no more; it is not started again once it ends. */
  drain(): void {
    if (this.draining) return;
    this.draining = true;
    this.context.log.info('draining');
    this.waking.abort();
  }

  /** Environment of the node for daemons and runs. */
  get env(): Record<string, string> {
    return { ...this.context.env, ...this.desired?.env };
  }

  /** What the daemons require of drivers; null if they require nothing, and while nothing is known about them. */
  get sparkSecret(): string | null {
    return this.desired?.spark_secret ?? null;
  }

  /** Brings the daemons to what is desired; may be called repeatedly with the same. */
  async apply(desired: DesiredDaemons): Promise<void> {
    this.desired = { spark_secret: this.sparkSecret, ...desired };
    this.bootstrapped ??= this.bootstrap(desired).catch((error: Error) => {
      this.observe({ state: 'failed', error: `The bootstrap script could not be run: ${error.message}` });
      return false;
    });
    if (!(await this.bootstrapped) || this.stopping.signal.aborted) return;
    if (!this.watching) this.sweep();
    this.reconcile();
    this.waking.abort();
    if (!this.watching) {
      this.watching = true;
      void this.watch();
    }
  }

  /** Ends every daemon and the bootstrap script. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all([...this.loops.values()].map((daemon) => daemon.stop()));
    this.loops.clear();
  }

  /**
   * Resolves once no executor is left of an application whose driver was ended: after its master has dropped it or, if
   * that takes too long, after this node has killed what it finds of it. Gives up after ten seconds.
   */
  async applicationGone(master: string, applicationId: string): Promise<void> {
    const place = this.loops.get('master')?.place;
    if (!master.startsWith('spark://') || !place || this.observed.master_url !== master) return;
    const start = performance.now();
    while (performance.now() - start < 10_000) {
      const status = await this.masterStatus(place);
      const executors = executorsOf(this.workerProcesses()).filter((found) => found.applicationId === applicationId);
      if (status && !status.activeApplications.includes(applicationId) && executors.length === 0) return;
      this.endStrays();
      if (performance.now() - start > 3_000) for (const { pid } of executors) signal(pid, 'SIGKILL');
      await pause(100, this.stopping.signal);
      if (this.stopping.signal.aborted) return;
    }
    this.context.log.warn('executors may be left', { application_id: applicationId });
  }

  /** The workers of this node and what they have started: executors and their Python workers. */
  private workerProcesses(): LiveProcess[] {
    const workers = [...this.loops].filter(([name]) => name !== 'master');
    return processesIn(new Set(workers.flatMap(([, daemon]) => daemon.leader?.pid ?? [])));
  }

  /** Ends Python workers whose executor is gone: they notice that only when the user's code gives them the time. */
  private endStrays(): void {
    const found = this.workerProcesses();
    const executors = new Set(executorsOf(found).map(({ pid }) => pid));
    const byPid = new Map(found.map((process) => [process.pid, process]));
    for (const process of found.filter(isPythonWorker)) {
      let first = process;
      for (let parent = byPid.get(first.parent); parent && isPythonWorker(parent); parent = byPid.get(first.parent))
        first = parent;
      if (!executors.has(first.parent)) signal(process.pid, 'SIGKILL');
    }
  }

  private observe(change: Partial<ObservedDaemons>): void {
    const next = { ...this.observed, ...change };
    if (JSON.stringify(next) === JSON.stringify(this.observed)) return;
    this.observed = next;
    this.context.log.info('daemons', { ...next });
    this.context.changed(next);
  }

  private async bootstrap({ bootstrap_script: script, bootstrap_timeout_ms }: DesiredDaemons): Promise<boolean> {
    const { owner, logs } = this.context;
    const problem = await runBootstrapScript(script, bootstrap_timeout_ms ?? BOOTSTRAP_TIMEOUT_MS, {
      owner,
      logs,
      sandbox: this.sandbox,
      launch: (path, file) => this.launch('bootstrap', { argv: [path], env: {} }, [file]),
      signal: this.stopping.signal,
    });
    if (problem === null) return true;
    if (!this.stopping.signal.aborted) this.observe({ state: 'failed', error: problem });
    return false;
  }

  /** Ends daemons that an earlier agent had started but not yet written down when it died. */
  private sweep(): void {
    const folder = `${this.nodeDir}/daemons`;
    const known = readdirSync(folder).map((name) => readJson<DaemonJournal>(`${folder}/${name}`));
    const sessions = new Set(known.map((daemon) => daemon?.process.pid));
    for (const { pid, argv, session } of processesOf(this.context.owner)) {
      if (!argv.some((word) => /^org\.apache\.spark\.deploy\.(?:master\.Master|worker\.Worker)$/.test(word))) continue;
      if (!sessions.has(session)) signal(pid, 'SIGKILL');
    }
  }

  private reconcile(): void {
    const { desired } = this;
    if (!desired || this.stopping.signal.aborted) return;
    const masterUrl = desired.role === 'worker' ? desired.master_url : this.observed.master_url;
    const wanted = this.wanted(desired, masterUrl);
    for (const [name, daemon] of this.loops) {
      const moved = daemon.masterUrl !== null && masterUrl !== null && daemon.masterUrl !== masterUrl;
      // Workers outlive a master that is away for a moment; they look for it by themselves.
      const left = !wanted.has(name) && (daemon.masterUrl === null || masterUrl !== null);
      if (moved || left) this.retire(name, daemon);
    }
    for (const [name, make] of wanted) {
      if (this.loops.has(name) || this.retiring.has(name)) continue;
      const daemon = make();
      this.loops.set(name, daemon);
      daemon.start();
    }
  }

  private wanted(desired: DesiredDaemons, masterUrl: string | null): Map<string, () => Daemon> {
    const wanted = new Map<string, () => Daemon>();
    const { role } = desired;
    if (role === 'master' || role === 'master-and-workers') wanted.set('master', () => this.master());
    const workers = role === 'worker' ? 1 : role === 'master-and-workers' ? desired.workers : 0;
    // A worker that starts before its master listens would wait ten seconds for its second try.
    if (masterUrl !== null)
      for (let number = 1; number <= workers; number++)
        wanted.set(`worker-${number}`, () => this.worker(number, masterUrl, desired));
    return wanted;
  }

  private retire(name: string, daemon: Daemon): void {
    this.loops.delete(name);
    this.retiring.add(name);
    void daemon.stop().then(() => {
      this.retiring.delete(name);
      this.reconcile();
    });
  }

  private master(): Daemon {
    return new Daemon('master', null, this.daemonContext(), (ui, place) =>
      masterCommand(this.context.runtime, this.env, this.secrets(ui), { host: this.context.bindAddress, ...place }),
    );
  }

  private worker(number: number, masterUrl: string, desired: DesiredDaemons): Daemon {
    const name = `worker-${number}`;
    const workDir = `${this.sandbox.box}/work/${number}`;
    return new Daemon(name, masterUrl, this.daemonContext(), (ui, { webUiPort }) =>
      workerCommand(
        this.context.runtime,
        this.env,
        this.secrets(ui),
        {
          host: this.context.bindAddress,
          webUiPort,
          cores: desired.worker_cores,
          memoryMb: desired.worker_memory_mb,
          workDir,
          gpus: this.gpusOf(number, desired),
        },
        masterUrl,
      ),
    );
  }

  /** What the worker offers of the node's GPUs, after writing the script that tells which; null if none. */
  private gpusOf(number: number, { gpus = 0, workers }: DesiredDaemons): WorkerPlace['gpus'] {
    const amount = gpusOfWorker(gpus, number, Math.max(1, workers));
    if (amount === 0) return null;
    const file = gpuScript(`worker-${number}`);
    const path = `${this.nodeDir}/spark/${file}`;
    rmSync(path, { force: true });
    writeFileSync(path, gpuDiscoveryScript(number, Math.max(1, workers)), { mode: 0o500 });
    this.sandbox.give(file);
    return { amount, discoveryScript: resolve(path) };
  }

  private gpuFiles(daemon: string): string[] {
    return existsSync(`${this.nodeDir}/spark/${gpuScript(daemon)}`) ? [gpuScript(daemon)] : [];
  }

  private secrets(ui: string): DaemonSecrets {
    return { spark: this.sparkSecret, ui };
  }

  private daemonContext(): DaemonContext {
    const { owner, bindAddress, log } = this.context;
    return {
      owner,
      bindAddress,
      log,
      launch: (name, command) => this.launch(name, command, this.gpuFiles(name)),
      // Those of other roles are needed by the runs that the node still has.
      isLast: () => this.draining && this.desired?.role === 'worker',
      crashed: (name, times, detail) => {
        this.waking.abort();
        const line = telltaleLine(readTail(log.stderr, TAIL_BYTES).toString('utf8'));
        const why = line === null ? '.' : `: ${line}`;
        this.observe({
          state: times >= CRASHES_TO_FAIL ? 'failed' : 'starting',
          error: `The Spark ${name} ended (${detail})${why}`,
        });
      },
    };
  }

  private launch(name: string, command: DaemonCommand, files: readonly string[] = []): ChildProcess {
    const { runtime, log } = this.context;
    const { box } = this.sandbox;
    const env = {
      ...baseEnvironment(runtime, `${box}/home`),
      SPARK_LOCAL_DIRS: `${box}/local`,
      TMPDIR: `${box}/tmp`,
      ...this.env,
      ...command.env,
    };
    const [program = '', ...args] = this.sandbox.launch(name, command.argv, env, '.', files);
    const [stdout, stderr] = [log.stdout, log.stderr].map((path) => openSync(path, 'a', 0o600));
    try {
      // Straight to the files: a pipe through the agent would end the daemon with it.
      return spawn(program, args, {
        detached: true,
        cwd: '/',
        stdio: ['ignore', stdout, stderr],
        env: this.sandbox.environment(),
      });
    } finally {
      for (const fd of [stdout, stderr]) if (fd !== undefined) closeSync(fd);
    }
  }

  /** Follows the daemons until they are ready, and again after each crash. */
  private async watch(): Promise<void> {
    const { signal: stopped } = this.stopping;
    while (!stopped.aborted) {
      const ready = await this.look().catch((error: Error) => {
        this.observe({ error: `The daemons could not be supervised: ${error.message}` });
        return false;
      });
      if (ready) this.observe({ state: 'ready', error: null });
      else if (this.observed.state === 'ready') this.observe({ state: 'starting' });
      if (ready) this.endStrays();
      this.waking = new AbortController();
      const until = AbortSignal.any([stopped, this.waking.signal]);
      await pause(ready ? this.lookMs() : this.observed.master_url === null ? 25 : 50, until);
    }
  }

  private lookMs(): number {
    if (this.desired?.role === 'master') return MASTER_LOOK_MS;
    return this.draining && this.desired?.role === 'worker' ? MIN_SAMPLE_INTERVAL_MS : LOOK_MS;
  }

  private async look(): Promise<boolean> {
    const { desired } = this;
    if (!desired) return false;
    if (desired.role === 'single') return true;
    if (desired.role === 'worker') return this.lookAtWorker();
    const place = this.loops.get('master')?.place;
    if (!place) return false;
    const { bindAddress } = this.context;
    if (this.observed.master_url !== `spark://${bindAddress}:${place.port}`) {
      if (!(await accepts(bindAddress, place.port))) return false;
      this.observe({ master_url: `spark://${bindAddress}:${place.port}` });
      this.reconcile();
      return false;
    }
    const status = await this.masterStatus(place);
    if (!status?.alive) return false;
    if (desired.role === 'master') {
      await this.ofDaemons.observeMaster(status.activeApplications, (path) => this.page(place, path));
      return true;
    }
    return status.aliveWorkers >= desired.workers;
  }

  private async lookAtWorker(): Promise<boolean> {
    const daemon = this.loops.get('worker-1');
    const place = daemon?.place;
    if (!place) {
      // Only one that is to go has none for good.
      const hasEnded = this.draining && (!daemon || daemon.hasEnded);
      if (hasEnded) this.ofDaemons.observeWorker({ usedCores: 0, executors: 0 }, true);
      return hasEnded;
    }
    const page = (await this.page(place)) ?? '';
    if (this.draining) this.tellToDrain(daemon);
    const load = parseWorkerLoad(page);
    if (load) this.ofDaemons.observeWorker(load, this.draining);
    return parseWorkerRegistered(page);
  }

  /** The signal is for the worker itself: it would end the processes around it. Repeated, it changes nothing. */
  private tellToDrain({ leader, canDrain }: Daemon): void {
    if (!leader || !canDrain) return;
    for (const { pid, argv } of processesIn(new Set([leader.pid])))
      if (argv[0]?.endsWith('/java') && argv.includes(WORKER_CLASS)) signal(pid, 'SIGPWR');
  }

  private async masterStatus(place: DaemonPlace): Promise<MasterStatus | null> {
    return parseMasterStatus((await this.page(place)) ?? '');
  }

  private page({ webUiPort: port, uiToken }: DaemonPlace, path = '/json/'): Promise<string | null> {
    const headers = { [UI_TOKEN_HEADER]: uiToken };
    const signal = AbortSignal.timeout(PAGE_DEADLINE_MS);
    return new Promise((resolve) => {
      const request = get({ host: this.context.bindAddress, port, path, timeout: 2_000, headers, signal }, (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (part: string) => {
          text += part;
          // Applications put their names there.
          if (text.length > MAX_PAGE_BYTES) answer.destroy();
        });
        answer.on('end', () => resolve(answer.statusCode === 200 ? text : null));
        answer.on('error', () => resolve(null));
        // After what came before; of an answer that is too long it is all that comes.
        answer.on('close', () => resolve(null));
      });
      request.on('timeout', () => request.destroy());
      request.on('error', () => resolve(null));
    });
  }
}

/** Where a running daemon is, and what its page requires. */
interface DaemonPlace {
  port: number;
  webUiPort: number;
  uiToken: string;
}

interface DaemonContext {
  owner: NodeOwner;
  bindAddress: string;
  log: NodeLog;
  launch: (name: string, command: DaemonCommand) => ChildProcess;
  /** Whether no other one is started once this one ends, or has ended. */
  isLast: () => boolean;
  crashed: (name: string, times: number, detail: string) => void;
}

/** One daemon that is restarted whenever it ends. */
class Daemon {
  private current: DaemonJournal | null = null;
  private ended = false;
  private readonly stopping = new AbortController();
  /** Resolves once the daemon is asked to end. */
  private readonly asked = new Promise<null>((resolve) => {
    this.stopping.signal.addEventListener('abort', () => resolve(null));
  });
  private done: Promise<void> = Promise.resolve();
  private readonly path: string;

  constructor(
    private readonly name: string,
    readonly masterUrl: string | null,
    private readonly context: DaemonContext,
    private readonly command: (uiToken: string, place: { port: number; webUiPort: number }) => DaemonCommand,
  ) {
    this.path = `${context.owner.nodeDir}/daemons/${name}.json`;
  }

  /** Null while there is none. */
  get place(): DaemonPlace | null {
    if (!this.current) return null;
    const { port, web_ui_port: webUiPort, ui_token: uiToken = '' } = this.current;
    return { port, webUiPort, uiToken };
  }

  /** Whether it ended and is not started again. */
  get hasEnded(): boolean {
    return this.ended;
  }

  /** Whether it knows the signal to move away what it holds. */
  get canDrain(): boolean {
    return this.current?.can_drain ?? false;
  }

  /** Leader of its session; null while there is none. */
  get leader(): ProcessId | null {
    return this.current?.process ?? null;
  }

  start(): void {
    this.done = this.loop().catch((error: Error) => this.context.crashed(this.name, CRASHES_TO_FAIL, error.message));
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.done;
  }

  private async loop(): Promise<void> {
    const backoff = new Backoff(200, 30_000);
    let crashes = 0;
    while (!this.stopping.signal.aborted) {
      if (this.context.isLast() && !this.adoptable()) {
        this.ended = true;
        return;
      }
      const detail = await this.runOnce();
      if (this.stopping.signal.aborted) return;
      if (this.context.isLast()) {
        this.current = null;
        this.context.log.info('daemon ended', { daemon: this.name, detail });
        continue;
      }
      const steady = this.current !== null && Date.now() - this.current.started_at > STEADY_MS;
      this.current = null;
      crashes = steady ? 1 : crashes + 1;
      if (steady) backoff.reset();
      this.context.log.warn('daemon ended', { daemon: this.name, detail, crashes });
      this.context.crashed(this.name, crashes, detail);
      await pause(backoff.next(), this.stopping.signal);
    }
  }

  /** The daemon of an earlier agent, if it runs. */
  private adoptable(): DaemonJournal | null {
    const last = readJson<DaemonJournal>(this.path);
    return last && last.master_url === this.masterUrl && isAlive(last.process) ? last : null;
  }

  /** Finds the daemon of an earlier agent or starts one; resolves with how it ended. */
  private async runOnce(): Promise<string> {
    const found = this.adoptable();
    let ended: Promise<string>;
    if (found) {
      this.current = found;
      ended = this.endOf(found.process);
    } else {
      const last = readJson<DaemonJournal>(this.path);
      if (last) while (!killSession(last.process, this.context.owner)) await pause(20);
      // The old address is kept where it can be, since workers and drivers know it.
      const host = this.context.bindAddress;
      const port = last && (await isFree(host, last.port)) ? last.port : await freePort(host);
      const webUiPort = await freePort(host);
      const uiToken = randomBytes(24).toString('base64url');
      const child = this.context.launch(this.name, this.command(uiToken, { port, webUiPort }));
      ended = new Promise((resolve) => {
        child.once('error', (error) => resolve(error.message));
        child.once('exit', (code, name) => resolve(name ?? `exit code ${code}`));
      });
      const process = child.pid === undefined ? null : identify(child.pid);
      if (!process) return ended;
      const [master_url, started_at] = [this.masterUrl, Date.now()];
      const place = { port, web_ui_port: webUiPort, master_url };
      this.current = { process, ...place, started_at, ui_token: uiToken, can_drain: true };
      writeJson(this.path, this.current);
    }
    const leader = this.current.process;
    const detail = await Promise.race([ended, this.asked]);
    if (detail !== null) return detail;
    if (isAlive(leader)) signalGroup(leader.pid, 'SIGTERM');
    const patience = new AbortController();
    await Promise.race([ended, pause(STOP_GRACE_MS, patience.signal)]);
    patience.abort();
    while (!killSession(leader, this.context.owner)) await pause(20);
    return 'stopped';
  }

  private async endOf(process: ProcessId): Promise<string> {
    while (isAlive(process)) await pause(100);
    return 'ended';
  }
}

function gpuScript(daemon: string): string {
  return `gpus-${daemon}.sh`;
}

const WORKER_CLASS = 'org.apache.spark.deploy.worker.Worker';

interface Executor {
  pid: number;
  applicationId: string;
}

function executorsOf(processes: readonly LiveProcess[]): Executor[] {
  return processes.flatMap(({ pid, argv }) => {
    if (!argv.includes('org.apache.spark.executor.CoarseGrainedExecutorBackend')) return [];
    return [{ pid, applicationId: argv[argv.indexOf('--app-id') + 1] ?? '' }];
  });
}

function isPythonWorker({ argv }: LiveProcess): boolean {
  return argv.some((word) => word.startsWith('pyspark.'));
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1_000 });
    const done = (open: boolean): void => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', () => done(true));
    socket.once('timeout', () => done(false));
    socket.once('error', () => done(false));
  });
}

function listen(host: string, port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen(port, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : null));
    });
  });
}

async function isFree(host: string, port: number): Promise<boolean> {
  return (await listen(host, port)) !== null;
}

async function freePort(host: string): Promise<number> {
  const port = await listen(host, 0);
  if (port === null) throw new Error(`No port is free on ${host}.`);
  return port;
}
