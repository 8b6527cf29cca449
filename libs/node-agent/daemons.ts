import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { connect, createServer } from 'node:net';
import { resolve } from 'node:path';
import type { DesiredDaemons, NodeLoad, ObservedDaemons } from '../contracts/agent-protocol';
import { mostTellingLine } from '../spark/daemon-end';
import { gpuDiscoveryScript, gpusOfWorker } from '../spark/accelerator';
import {
  canStartEarly,
  MASTER_CLASS,
  masterCommand,
  parseMasterStatus,
  parseWorkerLoad,
  parseWorkerRegistered,
  UI_TOKEN_HEADER,
  WORKER_CLASS,
  workerCommand,
  type DaemonCommand,
  type DaemonSecrets,
  type MasterStatus,
  type WorkerSettings,
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
  sessionProcesses,
  nodeProcesses,
  signal,
  signalGroup,
  type LiveProcess,
  type NodeOwner,
  type ProcessId,
} from './processes';
import type { Sandbox } from './sandbox';
import type { Sandboxes } from './sandboxes';
import { Backoff, pause } from './waiting';

/** The parts of the agent that the daemons need. */
export interface DaemonsContext {
  owner: NodeOwner;
  runtime: SparkRuntime;
  sandboxes: Sandboxes;
  bindAddress: string;
  env: Record<string, string>;
  log: NodeLog;
  /** The same log, cut to its limit. */
  logs: { stdout: BoundedLog; stderr: BoundedLog };
  changed: (observed: ObservedDaemons) => void;
}

/** The saved state of a daemon, with which a restarted agent finds it. */
interface DaemonJournal {
  process: ProcessId;
  port: number;
  web_ui_port: number;
  /** Master that a worker joined. */
  master_url: string | null;
  started_at: number;
  /** Token that its page requires; absent if an older agent started it. */
  ui_token?: string;
  /** True if it handles the signal to decommission; absent if an older agent started it. */
  can_drain?: boolean;
}

/** Timeout if the control plane sends none. */
const BOOTSTRAP_TIMEOUT_MS = 10 * 60_000;
const TAIL_BYTES = 4_000;
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** After this many crashes in a row the node counts as failed; the daemon is still restarted. */
const MAX_CRASHES = 5;
/** A daemon that ran this long did not crash at its start. */
const STEADY_MS = 30_000;
const STOP_GRACE_MS = 2_000;
/** Time between two checks of ready daemons. */
const CHECK_INTERVAL_MS = 5_000;
/** Time between two checks of a master, whose applications wait for executors. */
const MASTER_CHECK_INTERVAL_MS = 2_000;
const PAGE_TIMEOUT_MS = 4_000;

/** Runs the Spark daemons of the node that the control plane wants. */
export class Daemons {
  private desired: DesiredDaemons | null = null;
  private observed: ObservedDaemons = { state: 'starting', master_url: null, error: null };
  private readonly loops = new Map<string, Daemon>();
  /** Names of daemons that are ending. Their successors wait for that. */
  private readonly retiring = new Set<string>();
  private bootstrapped: Promise<boolean> | null = null;
  private readonly stopping = new AbortController();
  private watching = false;
  /** Ends the pause between two checks after a change. */
  private waking = new AbortController();
  private readonly daemonLoad = new DaemonLoad();
  private draining = false;
  /**
   * Port at which the master listens or is about to, if workers can be started that wait for it; null otherwise. It stays while the
   * master is started again, so that the workers do.
   */
  private awaitedPort: number | null = null;

  private readonly nodeDir: string;
  private readonly sandbox: Sandbox;

  constructor(private readonly context: DaemonsContext) {
    this.nodeDir = context.owner.nodeDir;
    mkdirSync(`${this.nodeDir}/daemons`, { recursive: true, mode: 0o700 });
    const dir = `${this.nodeDir}/spark`;
    this.sandbox = context.sandboxes.daemonSandbox(dir);
    const confinement = JSON.stringify(context.sandboxes.confinement);
    // An existing folder with the same confinement is kept, because daemons of an earlier agent may be using it.
    if (readText(`${dir}/confinement`) === confinement) return;
    rmSync(dir, { recursive: true, force: true });
    this.sandbox.create(['home', 'local', 'tmp', 'work']);
    this.sandbox.chownBox();
    writeFileSync(`${dir}/confinement`, confinement);
  }

  get state(): ObservedDaemons {
    return this.observed;
  }

  /** The load that the daemons report; null if it is unknown, and on nodes whose daemons report none. */
  get load(): NodeLoad | null {
    return this.daemonLoad.current;
  }

  /** True if the node's purpose is its worker, whose executors belong to runs of other nodes. */
  get isWorker(): boolean {
    return this.desired?.role === 'worker';
  }

  /** True if the draining worker has no executors left. */
  get isDrained(): boolean {
    return this.daemonLoad.isDrained;
  }

  /** Makes the worker move its executors' data to others and accept no more. It is not started again once it ends. */
  drain(): void {
    if (this.draining) return;
    this.draining = true;
    this.context.log.info('The node is draining');
    this.waking.abort();
  }

  /** Environment of the node for daemons and runs. */
  get env(): Record<string, string> {
    return { ...this.context.env, ...this.desired?.env };
  }

  /** Secret that the daemons require of drivers; null if they require none, and until the control plane has sent their settings. */
  get sparkSecret(): string | null {
    return this.desired?.spark_secret ?? null;
  }

  /** Changes the daemons to the desired state. Repeated calls with the same state have no effect. */
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
   * Resolves once no executor is left of an application whose driver has ended: after its master has dropped it or, if that takes too
   * long, after this node has killed the executors that it finds. Gives up after ten seconds.
   */
  async applicationGone(master: string, applicationId: string): Promise<void> {
    const place = this.loops.get('master')?.place;
    if (!master.startsWith('spark://') || !place || this.observed.master_url !== master) return;
    const start = performance.now();
    while (performance.now() - start < 10_000) {
      const status = await this.masterStatus(place);
      const executors = executorsOf(this.workerProcesses()).filter((found) => found.applicationId === applicationId);
      if (status && !status.activeApplications.includes(applicationId) && executors.length === 0) return;
      this.killOrphans();
      if (performance.now() - start > 3_000) for (const { pid } of executors) signal(pid, 'SIGKILL');
      await pause(100, this.stopping.signal);
      if (this.stopping.signal.aborted) return;
    }
    this.context.log.warn('Executors of an ended application may still run', { application_id: applicationId });
  }

  /** Returns the processes of this node's workers: executors and their Python workers. */
  private workerProcesses(): LiveProcess[] {
    const workers = [...this.loops].filter(([name]) => name !== 'master');
    return sessionProcesses(new Set(workers.flatMap(([, daemon]) => daemon.leader?.pid ?? [])));
  }

  /** Kills Python workers whose executor has ended. They notice that only when the user's code lets them. */
  private killOrphans(): void {
    const found = this.workerProcesses();
    const executors = new Set(executorsOf(found).map(({ pid }) => pid));
    const byPid = new Map(found.map((process) => [process.pid, process]));
    for (const process of found.filter(isPythonWorker)) {
      let topmost = process;
      for (let parent = byPid.get(topmost.parent); parent && isPythonWorker(parent); parent = byPid.get(topmost.parent))
        topmost = parent;
      if (!executors.has(topmost.parent)) signal(process.pid, 'SIGKILL');
    }
  }

  private observe(change: Partial<ObservedDaemons>): void {
    const next = { ...this.observed, ...change };
    if (JSON.stringify(next) === JSON.stringify(this.observed)) return;
    this.observed = next;
    this.context.log.info('The state of the daemons changed', { ...next });
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

  /** Kills daemons that an earlier agent started but had not recorded when it died. */
  private sweep(): void {
    const folder = `${this.nodeDir}/daemons`;
    const known = readdirSync(folder).map((name) => readJson<DaemonJournal>(`${folder}/${name}`));
    const sessions = new Set(known.map((daemon) => daemon?.process.pid));
    for (const { pid, argv, session } of nodeProcesses(this.context.owner)) {
      if (!argv.includes(MASTER_CLASS) && !argv.includes(WORKER_CLASS)) continue;
      if (!sessions.has(session)) signal(pid, 'SIGKILL');
    }
  }

  private reconcile(): void {
    const { desired } = this;
    if (!desired || this.stopping.signal.aborted) return;
    const masterUrl = this.masterUrl(desired);
    const wanted = this.wanted(desired, masterUrl);
    for (const [name, daemon] of this.loops) {
      const moved = daemon.masterUrl !== null && masterUrl !== null && daemon.masterUrl !== masterUrl;
      // Workers outlive a master that is away for a moment, and reconnect by themselves.
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
    if (masterUrl !== null)
      for (let number = 1; number <= workers; number++)
        wanted.set(`worker-${number}`, () => this.worker(number, masterUrl, desired));
    return wanted;
  }

  /**
   * Returns the address that workers join. Only those that wait for the master by themselves learn it before the master listens: any
   * other would wait ten seconds for its second attempt.
   */
  private masterUrl({ role, master_url }: DesiredDaemons): string | null {
    if (role === 'worker') return master_url;
    return this.awaitedPort === null ? this.observed.master_url : this.urlOf(this.awaitedPort);
  }

  private urlOf(masterPort: number): string {
    return `spark://${this.context.bindAddress}:${masterPort}`;
  }

  /** The workers of a master can start as soon as its port is known. */
  private launched(name: string, port: number): void {
    if (name !== 'master') return;
    this.awaitedPort = canStartEarly(this.context.runtime, this.env) ? port : null;
    this.reconcile();
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
        this.awaited(masterUrl),
      ),
    );
  }

  /** Returns the address of the node's master if it does not listen there yet. */
  private awaited(masterUrl: string): { host: string; port: number } | null {
    const port = this.awaitedPort;
    if (port === null || this.urlOf(port) !== masterUrl || this.observed.master_url === masterUrl) return null;
    return { host: this.context.bindAddress, port };
  }

  /** Returns the node's GPUs that the worker offers, after writing the script that prints them; null if it has none. */
  private gpusOf(number: number, { gpus = 0, workers }: DesiredDaemons): WorkerSettings['gpus'] {
    const amount = gpusOfWorker(gpus, number, Math.max(1, workers));
    if (amount === 0) return null;
    const file = gpuScript(`worker-${number}`);
    const path = `${this.nodeDir}/spark/${file}`;
    rmSync(path, { force: true });
    writeFileSync(path, gpuDiscoveryScript(number, Math.max(1, workers)), { mode: 0o500 });
    this.sandbox.chown(file);
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
      launched: (name, port) => this.launched(name, port),
      // The runs that the node still has need the daemons of other roles.
      isLast: () => this.draining && this.desired?.role === 'worker',
      crashed: (name, times, detail) => {
        this.waking.abort();
        const line = mostTellingLine(readTail(log.stderr, TAIL_BYTES).toString('utf8'));
        const why = line === null ? '.' : `: ${line}`;
        this.observe({
          state: times >= MAX_CRASHES ? 'failed' : 'starting',
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
      // Output goes straight to the files: a pipe through the agent would end the daemon with the agent.
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

  /** Checks the daemons until they are ready, and again after each crash. */
  private async watch(): Promise<void> {
    const { signal: stopped } = this.stopping;
    while (!stopped.aborted) {
      const ready = await this.checkReady().catch((error: Error) => {
        this.observe({ error: `The daemons could not be supervised: ${error.message}` });
        return false;
      });
      if (ready) this.observe({ state: 'ready', error: null });
      else if (this.observed.state === 'ready') this.observe({ state: 'starting' });
      if (ready) this.killOrphans();
      this.waking = new AbortController();
      const until = AbortSignal.any([stopped, this.waking.signal]);
      await pause(ready ? this.checkIntervalMs() : this.observed.master_url === null ? 25 : 50, until);
    }
  }

  private checkIntervalMs(): number {
    if (this.desired?.role === 'master') return MASTER_CHECK_INTERVAL_MS;
    return this.draining && this.desired?.role === 'worker' ? MIN_SAMPLE_INTERVAL_MS : CHECK_INTERVAL_MS;
  }

  private async checkReady(): Promise<boolean> {
    const { desired } = this;
    if (!desired) return false;
    if (desired.role === 'single') return true;
    if (desired.role === 'worker') return this.checkWorker();
    const place = this.loops.get('master')?.place;
    if (!place) return false;
    const url = this.urlOf(place.port);
    if (this.observed.master_url !== url) {
      if (!(await accepts(this.context.bindAddress, place.port))) return false;
      this.observe({ master_url: url });
      this.reconcile();
      return false;
    }
    const status = await this.masterStatus(place);
    if (!status?.alive) return false;
    if (desired.role === 'master') {
      await this.daemonLoad.observeMaster(status.activeApplications, (path) => this.page(place, path));
      return true;
    }
    return status.aliveWorkers >= desired.workers;
  }

  private async checkWorker(): Promise<boolean> {
    const daemon = this.loops.get('worker-1');
    const place = daemon?.place;
    if (!place) {
      // Only a draining node stays without a worker; otherwise the worker is started again.
      const hasEnded = this.draining && (!daemon || daemon.hasEnded);
      if (hasEnded) this.daemonLoad.observeWorker({ usedCores: 0, executors: 0 }, true);
      return hasEnded;
    }
    const page = (await this.page(place)) ?? '';
    if (this.draining) this.requestDrain(daemon);
    const load = parseWorkerLoad(page);
    if (load) this.daemonLoad.observeWorker(load, this.draining);
    return parseWorkerRegistered(page);
  }

  /** Sends the signal only to the worker, because it would end the processes around it. Repeating it has no effect. */
  private requestDrain({ leader, canDrain }: Daemon): void {
    if (!leader || !canDrain) return;
    for (const { pid, argv } of sessionProcesses(new Set([leader.pid])))
      if (argv[0]?.endsWith('/java') && argv.includes(WORKER_CLASS)) signal(pid, 'SIGPWR');
  }

  private async masterStatus(place: DaemonPorts): Promise<MasterStatus | null> {
    return parseMasterStatus((await this.page(place)) ?? '');
  }

  private page({ webUiPort: port, uiToken }: DaemonPorts, path = '/json/'): Promise<string | null> {
    const headers = { [UI_TOKEN_HEADER]: uiToken };
    const signal = AbortSignal.timeout(PAGE_TIMEOUT_MS);
    return new Promise((resolve) => {
      const request = get(
        { host: this.context.bindAddress, port, path, timeout: 2_000, headers, signal },
        (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (part: string) => {
            text += part;
            // The page contains names of applications, which users choose.
            if (text.length > MAX_PAGE_BYTES) response.destroy();
          });
          response.on('end', () => resolve(response.statusCode === 200 ? text : null));
          response.on('error', () => resolve(null));
          // Fires after the other events; for a response that is too long, it is the only one.
          response.on('close', () => resolve(null));
        },
      );
      request.on('timeout', () => request.destroy());
      request.on('error', () => resolve(null));
    });
  }
}

/** The ports of a running daemon, and the token that its page requires. */
interface DaemonPorts {
  port: number;
  webUiPort: number;
  uiToken: string;
}

interface DaemonContext {
  owner: NodeOwner;
  bindAddress: string;
  log: NodeLog;
  launch: (name: string, command: DaemonCommand) => ChildProcess;
  /** Called whenever a daemon has been started or adopted. It may not listen yet. */
  launched: (name: string, port: number) => void;
  /** Returns true if a daemon that ends or has ended is not started again. */
  isLast: () => boolean;
  crashed: (name: string, times: number, detail: string) => void;
}

/** A daemon that is restarted whenever it ends. */
class Daemon {
  private current: DaemonJournal | null = null;
  private ended = false;
  private readonly stopping = new AbortController();
  /** Resolves once the daemon must stop. */
  private readonly stopRequested = new Promise<null>((resolve) => {
    this.stopping.signal.addEventListener('abort', () => resolve(null));
  });
  private done: Promise<void> = Promise.resolve();
  private readonly path: string;

  constructor(
    private readonly name: string,
    readonly masterUrl: string | null,
    private readonly context: DaemonContext,
    private readonly command: (uiToken: string, ports: { port: number; webUiPort: number }) => DaemonCommand,
  ) {
    this.path = `${context.owner.nodeDir}/daemons/${name}.json`;
  }

  /** Null if it is not running. */
  get place(): DaemonPorts | null {
    if (!this.current) return null;
    const { port, web_ui_port: webUiPort, ui_token: uiToken = '' } = this.current;
    return { port, webUiPort, uiToken };
  }

  /** True if it has ended and is not started again. */
  get hasEnded(): boolean {
    return this.ended;
  }

  /** True if it handles the signal to decommission. */
  get canDrain(): boolean {
    return this.current?.can_drain ?? false;
  }

  /** Leader of its session; null if it is not running. */
  get leader(): ProcessId | null {
    return this.current?.process ?? null;
  }

  start(): void {
    this.done = this.loop().catch((error: Error) => this.context.crashed(this.name, MAX_CRASHES, error.message));
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
        this.context.log.info('Spark daemon ended', { daemon: this.name, detail });
        continue;
      }
      const steady = this.current !== null && Date.now() - this.current.started_at > STEADY_MS;
      this.current = null;
      crashes = steady ? 1 : crashes + 1;
      if (steady) backoff.reset();
      this.context.log.warn('Spark daemon ended', { daemon: this.name, detail, crashes });
      this.context.crashed(this.name, crashes, detail);
      await pause(backoff.next(), this.stopping.signal);
    }
  }

  /** Returns the running daemon of an earlier agent; null if there is none. */
  private adoptable(): DaemonJournal | null {
    const last = readJson<DaemonJournal>(this.path);
    return last && last.master_url === this.masterUrl && isAlive(last.process) ? last : null;
  }

  /** Adopts the daemon of an earlier agent or starts one. Resolves with the way it ended. */
  private async runOnce(): Promise<string> {
    const found = this.adoptable();
    let ended: Promise<string>;
    if (found) {
      this.current = found;
      ended = this.endOf(found.process);
    } else {
      const last = readJson<DaemonJournal>(this.path);
      if (last) while (!killSession(last.process, this.context.owner)) await pause(20);
      // The port of the last process is used again if possible, because workers and drivers know it.
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
    this.context.launched(this.name, this.current.port);
    const leader = this.current.process;
    const detail = await Promise.race([ended, this.stopRequested]);
    if (detail !== null) return detail;
    if (isAlive(leader)) signalGroup(leader.pid, 'SIGTERM');
    const grace = new AbortController();
    await Promise.race([ended, pause(STOP_GRACE_MS, grace.signal)]);
    grace.abort();
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
