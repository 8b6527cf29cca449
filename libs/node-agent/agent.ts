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
import { AnswerError, ControlPlane } from './control-plane';
import { Daemons } from './daemons';
import { readJson, writeJson } from './files';
import { InterruptionWatch, runsEndAt } from './interruption';
import { LogShipper } from './log-shipper';
import { NodeLog } from './node-log';
import { NodeMeter } from './node-meter';
import type { NodeOwner } from './processes';
import { LOST_SEQ, Run, type RunContext } from './run';
import { type Confinement, folderMode, gpuDevices, visiblePaths } from './sandbox';
import { Sandboxes } from './sandboxes';
import { UtilizationSampler } from './utilization-sampler';
import { Backoff, pause } from './waiting';

/** What the agent keeps about its node. */
interface NodeJournal {
  agent_id: string;
  node_id: string | null;
  node_token: string | null;
  lease_ms: number | null;
  log_limit_bytes?: number;
}

/** Why the agent stops: it was asked to, or the control plane no longer wants the node. */
export type AgentEnd = 'stopped' | 'not-wanted';

const POLL_WAIT_MS = 25_000;
const TICK_MS = 100;
/** The control plane accepts twenty times as many, but messages can be long. */
const RUNS_OF_REPORT = 50;
const LAST_REPORT_MS = 3_000;
const NODE_STOP_GRACE_MS = 1_500;
/** For the end of runs before their machine's; the rest of that time is for their logs. */
const INTERRUPTION_GRACE_MS = 3_000;
/** Of each log, until the control plane says how much it keeps. */
const LOG_LIMIT_BYTES = 100 * 1024 * 1024;
/** Consecutive refusals of the bootstrap token after which it counts as spent. */
const REGISTER_REFUSALS = 5;

/** Does on its node what the control plane wants, and reports what it sees. */
export class Agent {
  private readonly controlPlane: ControlPlane;
  private readonly log: NodeLog;
  private readonly daemons: Daemons;
  private readonly runs = new Map<string, Run>();
  private readonly nodeLogs: LogShipper[];
  private readonly boundedLogs: BoundedLog[];
  private readonly utilization: UtilizationSampler;
  /** Whether the control plane's last answer asked for it. */
  private takesUtilization = false;
  private readonly journal: NodeJournal;
  private readonly journalPath: string;
  private readonly stopping = new AbortController();
  private readonly context: RunContext;
  private readonly unsent = new Map<string, RunReport>();
  private readonly failing = new Set<string>();
  private daemonsUnsent = true;
  private draining = false;
  private readonly interruptions: InterruptionWatch | null;
  private interruption: (NodeInterruption & { runsEndAt: number }) | null = null;
  /** What the last report said of the node itself, as JSON. */
  private sentNotes = '{}';
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
          failing: (error) => this.log.warn('notices of interruptions cannot be read', { error: error.message }),
        })
      : null;
    this.utilization = new UtilizationSampler(new NodeMeter(owner, config.shares_machine ?? false), (error) =>
      this.log.warn('utilization not measured', { error: error.message }),
    );
    this.context = {
      owner,
      runtime,
      sandboxes,
      env: () => this.daemons.env,
      sparkSecret: () => this.daemons.sparkSecret,
      logLimit,
      controlPlane: this.controlPlane,
      log: this.log,
      changed: (report) => {
        this.unsent.set(report.run_id, report);
        this.wakeReporter();
      },
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
          (error) => this.log.warn('node log refused', { stream, error: error.message }),
        ),
    );
  }

  /** Works until {@link stop} or until the control plane no longer wants the node. */
  async work(): Promise<AgentEnd> {
    this.log.info('agent started', { pid: process.pid, agent_id: this.journal.agent_id });
    for (const run of await Run.restore(this.context)) {
      this.runs.set(run.id, run);
      this.unsent.set(run.id, run.report);
      // One that has not started yet waits for the first poll, which brings the node's environment, or for a stop.
      if (!run.ended && run.started) void run.begin();
    }
    this.ticker = setInterval(() => this.tick(), TICK_MS);
    const watching = this.interruptions?.watch(this.stopping.signal);
    try {
      await this.register();
      // Nobody waits for its end, which a disk that hangs would hold up.
      void this.utilization.work(this.stopping.signal);
      await Promise.all([this.pollLoop(), this.reportLoop()]);
    } finally {
      this.stopping.abort();
      await watching;
      clearInterval(this.ticker);
      await this.windUp();
      this.controlPlane.close();
    }
    return this.notWanted ? 'not-wanted' : 'stopped';
  }

  /** Ends the agent with its runs and daemons; {@link work} returns when that is done. */
  stop(): void {
    this.log.info('agent stopping');
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
        const answer = await this.controlPlane.register(
          { agent_id, hostname: hostname(), pid: process.pid },
          this.stopping.signal,
        );
        const { node_id, node_token, lease_ms } = answer;
        Object.assign(this.journal, { node_id, node_token, lease_ms });
        writeJson(this.journalPath, this.journal);
        this.log.info('agent registered', { node_id });
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        const refused = error instanceof AnswerError && (error.status === 401 || error.status === 410);
        refusals = refused ? refusals + 1 : 0;
        if (refusals >= REGISTER_REFUSALS) return this.leave('the bootstrap token is refused');
        this.log.warn('registering failed', { error: (error as Error).message });
        await pause(backoff.next(), this.stopping.signal);
      }
    }
    this.controlPlane.token = this.journal.node_token ?? '';
    this.controlPlane.lastContact = this.controlPlane.heardAt = performance.now();
  }

  private async pollLoop(): Promise<void> {
    const backoff = new Backoff(100, 2_000);
    let version = 0;
    while (!this.stopping.signal.aborted) {
      const sentBefore = new Map([...this.runs].map(([id, run]) => [id, run.ended && !this.unsent.has(id)]));
      try {
        const answer = await this.controlPlane.poll(
          { version, wait_ms: POLL_WAIT_MS, ...this.askedUtilization() },
          this.stopping.signal,
        );
        version = answer.version;
        this.takesUtilization = answer.takes_utilization ?? false;
        backoff.reset();
        this.talks('poll');
        this.apply(answer, sentBefore);
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        if (this.unwanted(error)) return this.leave('the node token is refused');
        // It may be the refusal of an older process beside the one that asked for it.
        this.takesUtilization = false;
        this.talks('poll', error as Error);
        await pause(backoff.next(), this.stopping.signal);
      }
    }
  }

  /** What has not been told yet; what nobody asks for is dropped, since it would be told as of a later time. */
  private askedUtilization(): Pick<PollRequest, 'utilization'> {
    const utilization = this.utilization.take();
    return this.takesUtilization && utilization ? { utilization } : {};
  }

  private apply(answer: PollResponse, sentBefore: Map<string, boolean>): void {
    const { log_limit_bytes: limit } = answer;
    if (limit !== undefined && limit !== this.journal.log_limit_bytes) {
      this.journal.log_limit_bytes = limit;
      this.keepJournal();
    }
    if (answer.drain) {
      this.draining = true;
      this.daemons.drain();
    }
    this.daemons
      .apply(answer.daemons)
      .catch((error: Error) => this.log.warn('daemons not brought about', { error: error.message }));
    const wanted = new Set(answer.runs.map((run) => run.run_id));
    for (const desired of answer.runs) {
      try {
        this.applyRun(desired, sentBefore.get(desired.run_id) ?? false);
      } catch (error) {
        const { message } = error as Error;
        this.refuse(desired, 'AGENT_ERROR', `The node could not accept the run: ${message}`);
      }
    }
    for (const [id, run] of this.runs) {
      if (wanted.has(id)) continue;
      // Its end is on record, be it ours or the one that the control plane wrote while it could not reach us.
      this.runs.delete(id);
      this.unsent.delete(id);
      run.discard().catch((error: Error) => this.log.warn('run left behind', { run_id: id, error: error.message }));
    }
  }

  /** On a full disk the agent goes on; only a restarted one would not know. */
  private keepJournal(): void {
    try {
      writeJson(this.journalPath, this.journal);
    } catch (error) {
      this.log.warn('journal not written', { error: (error as Error).message });
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
      // The control plane had our report before it answered and still asks: it has lost it.
      if (endSentBefore) this.context.changed(run.report);
    } else {
      if (desired.action === 'stop') run.stop('stop', desired.spec.kill_grace_ms);
      if (!run.begun) void run.begin();
    }
  }

  /** A run that cannot even be written down, such as on a full disk, can only be ended in the report. */
  private refuse(desired: DesiredRun, reason: RunReason, message: string): void {
    this.log.warn('run not accepted', { run_id: desired.run_id, message });
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
      if (!this.hasNews) {
        await new Promise<void>((resolve) => {
          this.wakeReporter = resolve;
          if (this.stopping.signal.aborted || this.hasNews) resolve();
        });
        continue;
      }
      try {
        await this.reportOnce(this.stopping.signal);
        backoff.reset();
        this.talks('report');
      } catch (error) {
        if (this.unwanted(error)) return this.leave('the node token is refused');
        this.talks('report', error as Error);
        await pause(backoff.next(), this.stopping.signal);
      }
    }
  }

  private get hasNews(): boolean {
    return this.unsent.size > 0 || this.daemonsUnsent || JSON.stringify(this.notes()) !== this.sentNotes;
  }

  /** What reports say of the node itself; nothing on a node about which there is nothing to say. */
  private notes(): Omit<ReportRequest, 'daemons' | 'runs'> {
    const { interruption } = this;
    const { load } = this.daemons;
    return {
      ...(load ? { load } : {}),
      ...(this.draining ? { drained: this.isDrained() } : {}),
      ...(interruption ? { interruption: { detail: interruption.detail, ends_at: interruption.ends_at } } : {}),
    };
  }

  /** Runs are forgotten once their end is on record. */
  private isDrained(): boolean {
    return this.daemons.isWorker ? this.daemons.isDrained : this.runs.size === 0 && this.unsent.size === 0;
  }

  private announce(interruption: NodeInterruption): void {
    this.interruption = { ...interruption, runsEndAt: runsEndAt(interruption, Date.now()) };
    this.log.warn('the provider takes the machine back', { ...interruption });
    this.wakeReporter();
  }

  private async reportOnce(signal: AbortSignal): Promise<void> {
    const runs = [...this.unsent.values()].slice(0, RUNS_OF_REPORT);
    this.daemonsUnsent = false;
    const notes = this.notes();
    try {
      await this.controlPlane.report({ daemons: this.daemons.state, runs, ...notes }, signal);
    } catch (error) {
      this.daemonsUnsent = true;
      throw error;
    }
    this.sentNotes = JSON.stringify(notes);
    for (const sent of runs) if (this.unsent.get(sent.run_id) === sent) this.unsent.delete(sent.run_id);
  }

  private tick(): void {
    for (const shipper of this.nodeLogs) shipper.kick();
    for (const log of this.boundedLogs) log.keepBounded();
    for (const run of this.runs.values()) {
      try {
        run.tick();
      } catch (error) {
        this.log.warn('run not looked after', { run_id: run.id, error: (error as Error).message });
      }
    }
    if (this.interruption && Date.now() >= this.interruption.runsEndAt) {
      const message = interruptedMessage(this.interruption);
      for (const run of this.runs.values()) run.stop('interruption', INTERRUPTION_GRACE_MS, message);
    }
    if (this.hasNews) this.wakeReporter();
    const { lease_ms: lease } = this.journal;
    if (lease !== null && performance.now() - this.controlPlane.heardAt > lease)
      for (const run of this.runs.values()) run.stop('lease', 0);
  }

  /** Logs when a kind of call begins to fail and when it works again, not every try in between. */
  private talks(call: 'poll' | 'report', error: Error | null = null): void {
    const failing = this.failing.has(call);
    if (error && !failing && !this.stopping.signal.aborted) {
      this.failing.add(call);
      this.log.warn(`${call} failed`, { error: error.message });
    } else if (!error && failing) {
      this.failing.delete(call);
      this.log.info(`${call} works again`);
    }
  }

  private unwanted(error: unknown): boolean {
    return error instanceof AnswerError && (error.status === 401 || error.status === 410);
  }

  private leave(why: string): void {
    this.log.warn('the control plane does not want this node', { why });
    this.notWanted = true;
    this.stop();
  }

  private async windUp(): Promise<void> {
    const runs = [...this.runs.values()];
    for (const run of runs) {
      run.stop('node-stop', this.notWanted ? 0 : NODE_STOP_GRACE_MS);
      if (!run.begun && !run.ended) void run.begin();
    }
    const looking = setInterval(() => runs.forEach((run) => run.tick()), TICK_MS / 2);
    const settled = new AbortController();
    const gone = Promise.all([this.daemons.stop(), ...runs.map((run) => run.gone)]);
    await Promise.race([gone, pause(NODE_STOP_GRACE_MS + LAST_REPORT_MS, settled.signal)]);
    settled.abort();
    clearInterval(looking);
    if (!this.notWanted) await this.lastWords(runs);
    for (const shipper of this.nodeLogs) shipper.close();
    for (const run of runs) run.close();
  }

  private async lastWords(runs: Run[]): Promise<void> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), LAST_REPORT_MS);
    const words = async (): Promise<void> => {
      while (runs.some((run) => !run.ended) && !limit.signal.aborted) await pause(20, limit.signal);
      await Promise.all(this.nodeLogs.map((shipper) => shipper.drain()));
      while ((this.unsent.size > 0 || this.daemonsUnsent) && !limit.signal.aborted) await this.reportOnce(limit.signal);
    };
    const aborted = pause(LAST_REPORT_MS, limit.signal);
    await Promise.race([words(), aborted]).catch((error: Error) =>
      this.log.warn('last report failed', { error: error.message }),
    );
    clearTimeout(timer);
    limit.abort();
  }
}

function interruptedMessage({ detail }: NodeInterruption): string {
  return `The provider takes the machine of the run back: ${detail}`;
}
