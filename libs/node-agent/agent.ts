import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import type {
  DesiredRun,
  NodeInterruption,
  PollRequest,
  PollResponse,
  ReportRequest,
  RunReason,
  RunReport,
} from '../contracts/agent-protocol';
import { BoundedLog } from './bounded-log';
import { type AgentConfig, neededPaths } from './config';
import { ResponseError, ControlPlane } from './control-plane';
import { Daemons } from './daemons';
import { readJson, writeJson } from './files';
import { InterruptionWatch, runsEndAt } from './interruption';
import { LogShipper } from './log-shipper';
import { NodeLog } from './node-log';
import { NodeMeter } from './node-meter';
import type { NodeOwner } from './processes';
import { Run, type RunContext } from './run';
import { RunMemorySampler } from './run-memory';
import { LOST_SEQ } from './run-journal';
import { type Confinement, folderMode, gpuDevices, visiblePaths } from './sandbox';
import { Sandboxes } from './sandboxes';
import { UtilizationSampler } from './utilization-sampler';
import { Backoff, pause } from './waiting';
import { WarmDrivers } from './warm-drivers';

/** The agent's own state, which survives a restart. */
interface NodeJournal {
  agent_id: string;
  node_id: string | null;
  node_token: string | null;
  lease_ms: number | null;
  log_limit_bytes?: number;
}

/** The reason why the agent ended: it was stopped, or the control plane no longer wants the node. */
export type AgentEnd = 'stopped' | 'not-wanted';

const POLL_WAIT_MS = 25_000;
const TICK_MS = 100;
/** The control plane accepts twenty times as many, but messages can be long. */
const MAX_RUNS_PER_REPORT = 50;
/** The report of an accepted run waits this long at most, because most runs run a moment later and both fit into one report. */
const MAX_ACCEPTED_WAIT_MS = 100;
const LAST_REPORT_TIMEOUT_MS = 3_000;
const NODE_STOP_GRACE_MS = 1_500;
/** Grace period of runs before their machine ends. The rest of that time is for their logs. */
const INTERRUPTION_GRACE_MS = 3_000;
/** Limit of each log until the control plane sends its own. */
const LOG_LIMIT_BYTES = 100 * 1024 * 1024;
/** After this many consecutive refusals, the bootstrap token counts as used. */
const MAX_REGISTER_REFUSALS = 5;

/** Runs what the control plane wants on its node, and reports the state of the node. */
export class Agent {
  private readonly controlPlane: ControlPlane;
  private readonly log: NodeLog;
  private readonly daemons: Daemons;
  private readonly warmDrivers: WarmDrivers;
  private readonly runs = new Map<string, Run>();
  private readonly nodeLogs: LogShipper[];
  private readonly boundedLogs: BoundedLog[];
  private readonly utilization: UtilizationSampler;
  private readonly runMemory = new RunMemorySampler((error) =>
    this.log.warn('The memory of runs cannot be measured', { error: error.message }),
  );
  /** True if the control plane's last response requested utilization. */
  private takesUtilization = false;
  private readonly journal: NodeJournal;
  private readonly journalPath: string;
  private readonly stopping = new AbortController();
  private readonly context: RunContext;
  private readonly unsent = new Map<string, RunReport>();
  /** The runs among those in `unsent` that are accepted and may be running in a moment. */
  private readonly waiting = new Set<string>();
  private readonly failing = new Set<string>();
  private daemonsUnsent = true;
  private draining = false;
  private readonly interruptions: InterruptionWatch | null;
  private interruption: (NodeInterruption & { runsEndAt: number }) | null = null;
  /** The node's own status in the last report, as JSON. */
  private sentStatus = '{}';
  private wakeReporter: () => void = () => undefined;
  private notWanted = false;
  private ticker: NodeJS.Timeout | undefined;

  constructor(
    private readonly config: AgentConfig,
    confinement: Confinement,
  ) {
    const nodeDir = config.node_dir;
    mkdirSync(nodeDir, { recursive: true, mode: 0o700 });
    chmodSync(nodeDir, folderMode(confinement));
    this.log = new NodeLog(nodeDir);
    this.controlPlane = new ControlPlane(config.api_url);
    const stateDir = config.state_dir ?? nodeDir;
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    this.journalPath = `${stateDir}/agent.json`;
    this.journal = readJson<NodeJournal>(this.journalPath) ?? {
      agent_id: randomUUID(),
      node_id: null,
      node_token: null,
      lease_ms: null,
    };
    const runtime = {
      sparkHome: config.spark_home,
      sparkVersion: config.spark_version,
      javaHome: config.java_home,
      python: config.python,
      classArchive: config.class_archive ?? null,
      connectors: config.connectors ?? null,
      scalaKernel: config.scala_kernel ?? null,
      accelerators: { turbo: config.turbo ?? null, cuda: config.rapids ?? null },
    };
    const sandboxes = new Sandboxes(confinement, {
      visible: visiblePaths(neededPaths(config)),
      shared: config.shared_dirs ?? [],
      devices: config.rapids ? gpuDevices() : [],
      mark: nodeDir,
    });
    const owner: NodeOwner = {
      nodeDir,
      uids: confinement.kind === 'users' ? { first: confinement.firstUid, count: confinement.uids } : null,
    };
    const logLimit = (): number => this.journal.log_limit_bytes ?? LOG_LIMIT_BYTES;
    const logs = {
      stdout: new BoundedLog(this.log.stdout, logLimit),
      stderr: new BoundedLog(this.log.stderr, logLimit),
    };
    this.daemons = new Daemons({
      owner,
      runtime,
      sandboxes,
      bindAddress: config.bind_address,
      env: config.env ?? {},
      log: this.log,
      logs,
      changed: () => {
        this.daemonsUnsent = true;
        this.wakeReporter();
      },
    });
    const { interruption_notice: notice } = config;
    this.interruptions = notice
      ? new InterruptionWatch(notice, {
          announced: (interruption) => this.announce(interruption),
          failing: (error) => this.log.warn('The interruption notice cannot be read', { error: error.message }),
        })
      : null;
    this.utilization = new UtilizationSampler(new NodeMeter(owner, config.shares_machine ?? false), (error) =>
      this.log.warn('The utilization of the node cannot be measured', { error: error.message }),
    );
    this.warmDrivers = new WarmDrivers({
      owner,
      runtime,
      sandboxes,
      env: () => this.daemons.env,
      takesRuns: () => !this.draining && this.interruption === null && this.daemons.state.state === 'ready',
      activeRuns: () => [...this.runs.values()].filter((run) => !run.ended).length,
      log: this.log,
    });
    this.context = {
      owner,
      runtime,
      sandboxes,
      env: () => this.daemons.env,
      sparkSecret: () => this.daemons.sparkSecret,
      logLimit,
      controlPlane: this.controlPlane,
      log: this.log,
      changed: (report) => this.report(report),
      takeWarmDriver: (spec) => this.warmDrivers.take(spec),
      discardWarmDriver: (driver) => this.warmDrivers.discardTaken(driver),
      reportsWarmth: () => this.warmDrivers.isKnown,
      applicationGone: (master, applicationId) => this.daemons.applicationGone(master, applicationId),
    };
    const streams = ['stdout', 'stderr'] as const;
    this.boundedLogs = Object.values(logs);
    this.nodeLogs = streams.map(
      (stream) =>
        new LogShipper(
          logs[stream],
          null,
          (offset, chunk) => this.controlPlane.sendLog(`/node/logs/${stream}`, offset, chunk),
          (error) => this.log.warn('The control plane refused a node log', { stream, error: error.message }),
        ),
    );
  }

  /** Runs until {@link stop}, or until the control plane no longer wants the node. */
  async work(): Promise<AgentEnd> {
    this.log.info('Agent started', { pid: process.pid, agent_id: this.journal.agent_id });
    for (const run of await Run.restore(this.context)) {
      this.runs.set(run.id, run);
      this.unsent.set(run.id, run.report);
      // A run that has not started waits for a stop or for the first poll, whose response has the node's environment.
      if (!run.ended && run.started) void run.begin();
    }
    await this.warmDrivers.restore();
    this.ticker = setInterval(() => this.tick(), TICK_MS);
    const watching = this.interruptions?.watch(this.stopping.signal);
    try {
      await this.register();
      // Not awaited: a hanging disk would delay the agent's end.
      void this.utilization.work(this.stopping.signal);
      await Promise.all([this.pollLoop(), this.reportLoop()]);
    } finally {
      this.stopping.abort();
      await watching;
      clearInterval(this.ticker);
      await this.shutDown();
      this.controlPlane.close();
    }
    return this.notWanted ? 'not-wanted' : 'stopped';
  }

  /** Ends the agent with its runs and daemons. {@link work} returns once they have ended. */
  stop(): void {
    this.log.info('Agent stopping');
    this.stopping.abort();
    this.wakeReporter();
  }

  private async register(): Promise<void> {
    if (this.journal.node_token === null) writeJson(this.journalPath, this.journal);
    const backoff = new Backoff(200, 5_000);
    let refusals = 0;
    while (this.journal.node_token === null && !this.stopping.signal.aborted) {
      try {
        this.controlPlane.token = this.config.bootstrap_token;
        const { agent_id } = this.journal;
        const response = await this.controlPlane.register(
          { agent_id, hostname: hostname(), pid: process.pid },
          this.stopping.signal,
        );
        const { node_id, node_token, lease_ms } = response;
        Object.assign(this.journal, { node_id, node_token, lease_ms });
        writeJson(this.journalPath, this.journal);
        this.log.info('Agent registered', { node_id });
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        const refused = error instanceof ResponseError && (error.status === 401 || error.status === 410);
        refusals = refused ? refusals + 1 : 0;
        if (refusals >= MAX_REGISTER_REFUSALS) return this.leave('The control plane refused the bootstrap token');
        this.log.warn('The registration failed', { error: (error as Error).message });
        await pause(backoff.next(), this.stopping.signal);
      }
    }
    this.controlPlane.token = this.journal.node_token ?? '';
    this.controlPlane.lastContact = this.controlPlane.leaseStartedAt = performance.now();
  }

  private async pollLoop(): Promise<void> {
    const backoff = new Backoff(100, 2_000);
    let version = 0;
    while (!this.stopping.signal.aborted) {
      const sentBefore = new Map([...this.runs].map(([id, run]) => [id, run.ended && !this.unsent.has(id)]));
      try {
        const response = await this.controlPlane.poll(
          { version, wait_ms: POLL_WAIT_MS, ...this.requestedUtilization() },
          this.stopping.signal,
        );
        version = response.version;
        this.takesUtilization = response.takes_utilization ?? false;
        backoff.reset();
        this.logCallState('poll');
        this.apply(response, sentBefore);
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        if (this.isUnwanted(error)) return this.leave('The control plane refused the node token');
        // An older control plane process, beside the one that requested the utilization, may have refused it.
        this.takesUtilization = false;
        this.logCallState('poll', error as Error);
        await pause(backoff.next(), this.stopping.signal);
      }
    }
  }

  /** Returns the samples since the last call. Without a request they are dropped, because they would be sent as of a later time. */
  private requestedUtilization(): Pick<PollRequest, 'utilization'> {
    const utilization = this.utilization.take();
    return this.takesUtilization && utilization ? { utilization } : {};
  }

  private apply(response: PollResponse, sentBefore: Map<string, boolean>): void {
    const { log_limit_bytes: limit } = response;
    if (limit !== undefined && limit !== this.journal.log_limit_bytes) {
      this.journal.log_limit_bytes = limit;
      this.saveJournal();
    }
    if (response.drain) {
      this.draining = true;
      this.daemons.drain();
    }
    this.daemons
      .apply(response.daemons)
      .catch((error: Error) =>
        this.log.warn('The daemons could not be changed to the desired state', { error: error.message }),
      );
    this.warmDrivers.apply(response.daemons.warm_drivers ?? null);
    const wanted = new Set(response.runs.map((run) => run.run_id));
    for (const desired of response.runs) {
      try {
        this.applyRun(desired, sentBefore.get(desired.run_id) ?? false);
      } catch (error) {
        const { message } = error as Error;
        this.refuse(desired, 'AGENT_ERROR', `The node could not accept the run: ${message}`);
      }
    }
    for (const [id, run] of this.runs) {
      if (wanted.has(id)) continue;
      // The end is on record: either ours, or the one that the control plane wrote while it could not reach this node.
      this.runs.delete(id);
      this.withdraw(id);
      run
        .discard()
        .catch((error: Error) =>
          this.log.warn('The files of a run could not be removed', { run_id: id, error: error.message }),
        );
    }
  }

  /** On a full disk the agent continues with the limit in memory. A restarted agent starts with the previous one. */
  private saveJournal(): void {
    try {
      writeJson(this.journalPath, this.journal);
    } catch (error) {
      this.log.warn('The journal of the agent could not be written', { error: (error as Error).message });
    }
  }

  private applyRun(desired: DesiredRun, endSentBefore: boolean): void {
    let run = this.runs.get(desired.run_id);
    if (!run && this.interruption) {
      this.refuse(desired, 'SPOT_INTERRUPTED', interruptedMessage(this.interruption));
    } else if (!run) {
      run = Run.accept(this.context, {
        run_id: desired.run_id,
        correlation_id: desired.correlation_id,
        spec: desired.spec,
        offsets: desired.log_offsets,
      });
      this.runs.set(run.id, run);
      if (desired.action === 'stop') run.stop('stop', 0);
      void run.begin();
    } else if (run.ended) {
      // The control plane received our report before it responded and still requests the run, so it has lost the report.
      if (endSentBefore) this.context.changed(run.report);
    } else {
      if (desired.action === 'stop') run.stop('stop', desired.spec.kill_grace_ms);
      if (!run.begun) void run.begin();
    }
  }

  /** Ends a run that could not be saved, for example because the disk is full. It exists only in the report. */
  private refuse(desired: DesiredRun, reason: RunReason, message: string): void {
    this.log.warn('The run was not accepted', { run_id: desired.run_id, message });
    rmSync(`${this.config.node_dir}/runs/${desired.run_id}`, { recursive: true, force: true });
    this.context.changed({
      run_id: desired.run_id,
      seq: LOST_SEQ,
      state: 'ended',
      application_id: null,
      outcome: 'terminated',
      reason,
      message,
      exit_code: null,
      pid: null,
      at: new Date().toISOString(),
    });
  }

  private async reportLoop(): Promise<void> {
    const backoff = new Backoff(100, 2_000);
    while (!this.stopping.signal.aborted) {
      if (!this.hasUnsentState) {
        await new Promise<void>((resolve) => {
          this.wakeReporter = resolve;
          if (this.stopping.signal.aborted || this.hasUnsentState) resolve();
        });
        continue;
      }
      try {
        await this.reportOnce(this.stopping.signal);
        backoff.reset();
        this.logCallState('report');
      } catch (error) {
        if (this.isUnwanted(error)) return this.leave('The control plane refused the node token');
        this.logCallState('report', error as Error);
        await pause(backoff.next(), this.stopping.signal);
      }
    }
  }

  private report(report: RunReport): void {
    const { run_id: id } = report;
    this.unsent.set(id, report);
    if (report.state !== 'accepted') return this.reportSoon(id);
    this.waiting.add(id);
    setTimeout(() => this.reportSoon(id), MAX_ACCEPTED_WAIT_MS);
  }

  private reportSoon(id: string): void {
    this.waiting.delete(id);
    this.wakeReporter();
  }

  private get hasUnsentState(): boolean {
    return (
      this.unsent.size > this.waiting.size ||
      this.daemonsUnsent ||
      JSON.stringify(this.nodeStatus()) !== this.sentStatus
    );
  }

  /** Returns the node's own status for a report. It has no fields for what is unknown or does not apply. */
  private nodeStatus(): Omit<ReportRequest, 'daemons' | 'runs'> {
    const { interruption } = this;
    const { load } = this.daemons;
    return {
      ...(load ? { load } : {}),
      ...(this.draining ? { drained: this.isDrained() } : {}),
      ...(this.warmDrivers.isKnown ? { warm_drivers: this.warmDrivers.readyCount } : {}),
      ...(interruption ? { interruption: { detail: interruption.detail, ends_at: interruption.ends_at } } : {}),
    };
  }

  /** A run is removed once its end is on record. */
  private isDrained(): boolean {
    return this.daemons.isWorker ? this.daemons.isDrained : this.runs.size === 0 && this.unsent.size === 0;
  }

  private announce(interruption: NodeInterruption): void {
    this.interruption = { ...interruption, runsEndAt: runsEndAt(interruption, Date.now()) };
    this.log.warn('The provider reclaims the machine', { ...interruption });
    this.wakeReporter();
  }

  private async reportOnce(signal: AbortSignal): Promise<void> {
    const runs = [...this.unsent.values()].slice(0, MAX_RUNS_PER_REPORT);
    this.daemonsUnsent = false;
    const nodeStatus = this.nodeStatus();
    try {
      await this.controlPlane.report({ daemons: this.daemons.state, runs, ...nodeStatus }, signal);
    } catch (error) {
      this.daemonsUnsent = true;
      throw error;
    }
    this.sentStatus = JSON.stringify(nodeStatus);
    for (const sent of runs) if (this.unsent.get(sent.run_id) === sent) this.withdraw(sent.run_id);
  }

  private withdraw(id: string): void {
    this.unsent.delete(id);
    this.waiting.delete(id);
  }

  private tick(): void {
    for (const shipper of this.nodeLogs) shipper.wake();
    for (const log of this.boundedLogs) log.truncate();
    for (const run of this.runs.values()) {
      try {
        run.tick();
      } catch (error) {
        this.log.warn('A run could not be checked', { run_id: run.id, error: (error as Error).message });
      }
    }
    if (this.interruption && Date.now() >= this.interruption.runsEndAt) {
      const message = interruptedMessage(this.interruption);
      for (const run of this.runs.values()) run.stop('interruption', INTERRUPTION_GRACE_MS, message);
    }
    this.warmDrivers.tick();
    this.runMemory.tick(this.runs.values());
    if (this.hasUnsentState) this.wakeReporter();
    const { lease_ms: lease } = this.journal;
    if (lease !== null && performance.now() - this.controlPlane.leaseStartedAt > lease)
      for (const run of this.runs.values()) run.stop('lease', 0);
  }

  /** Logs when a kind of call starts to fail and when it works again, not every attempt in between. */
  private logCallState(call: 'poll' | 'report', error: Error | null = null): void {
    const failing = this.failing.has(call);
    if (error && !failing && !this.stopping.signal.aborted) {
      this.failing.add(call);
      this.log.warn(`The ${call} call fails`, { error: error.message });
    } else if (!error && failing) {
      this.failing.delete(call);
      this.log.info(`The ${call} call works again`);
    }
  }

  private isUnwanted(error: unknown): boolean {
    return error instanceof ResponseError && (error.status === 401 || error.status === 410);
  }

  private leave(why: string): void {
    this.log.warn('The control plane does not want this node', { why });
    this.notWanted = true;
    this.stop();
  }

  private async shutDown(): Promise<void> {
    const runs = [...this.runs.values()];
    for (const run of runs) {
      run.stop('node-stop', this.notWanted ? 0 : NODE_STOP_GRACE_MS);
      if (!run.begun && !run.ended) void run.begin();
    }
    const ticking = setInterval(() => runs.forEach((run) => run.tick()), TICK_MS / 2);
    const waiting = new AbortController();
    const gone = Promise.all([this.daemons.stop(), this.warmDrivers.stop(), ...runs.map((run) => run.driverEnded)]);
    await Promise.race([gone, pause(NODE_STOP_GRACE_MS + LAST_REPORT_TIMEOUT_MS, waiting.signal)]);
    waiting.abort();
    clearInterval(ticking);
    if (!this.notWanted) await this.sendLastReports(runs);
    for (const shipper of this.nodeLogs) shipper.close();
    for (const run of runs) run.close();
  }

  private async sendLastReports(runs: Run[]): Promise<void> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), LAST_REPORT_TIMEOUT_MS);
    const sendAll = async (): Promise<void> => {
      while (runs.some((run) => !run.ended) && !limit.signal.aborted) await pause(20, limit.signal);
      await Promise.all(this.nodeLogs.map((shipper) => shipper.drain()));
      while ((this.unsent.size > 0 || this.daemonsUnsent) && !limit.signal.aborted) await this.reportOnce(limit.signal);
    };
    const aborted = pause(LAST_REPORT_TIMEOUT_MS, limit.signal);
    await Promise.race([sendAll(), aborted]).catch((error: Error) =>
      this.log.warn('The last report failed', { error: error.message }),
    );
    clearTimeout(timer);
    limit.abort();
  }
}

function interruptedMessage({ detail }: NodeInterruption): string {
  return `The provider reclaims the machine of the run: ${detail}`;
}
