import type { ChildProcess } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {
  INTERACTIVE_KINDS,
  type LogStream,
  MAX_UTILIZATION,
  type OutputStream,
  type RunFile,
  type RunOutcome,
  type RunReason,
  type RunReport,
  type RunSpec,
} from '../contracts/agent-protocol';
import { applicationIdInLog } from '../spark/application-id';
import { classifyEnd, type RunEnd } from '../spark/run-end';
import { secretValues } from '../spark/run-secrets';
import { submitCommand, type SparkRuntime, type SubmitCommand, type SubmitSetup } from '../spark/submit-command';
import { SubmitError } from '../spark/submit-error';
import { assignmentText, handoverRefusal } from '../spark/warm-driver';
import { BoundedLog } from './bounded-log';
import type { ControlPlane } from './control-plane';
import {
  CHANNEL_FILES,
  DRIVER_FOLDERS,
  driverPaths,
  startDriver,
  startedProcess,
  WRAPPER_FILES,
  writeGenerated,
} from './driver-process';
import { EventLog } from './event-log';
import { readJson, readText, removeTrees, writeJson } from './files';
import { LogShipper } from './log-shipper';
import { type MaskableLog, MaskedLog } from './masked-log';
import type { NodeLog } from './node-log';
import { identify, isAlive, killAll, killSession, signalGroup, type NodeOwner, type ProcessId } from './processes';
import { folderMode, type Sandbox } from './sandbox';
import type { Sandboxes } from './sandboxes';
import { SecretMask } from './secret-mask';
import { RunChannel } from './run-channel';
import type { MeasurableRun, RunProcesses } from './run-memory';
import { blankJournal, memoryOf, readJournal, type RunJournal, type StopCause } from './run-journal';
import { StagedFiles } from './staged-files';
import { STOPPED } from './stopped-ends';
import { pause } from './waiting';
import {
  ASSIGNMENT_FILES,
  endProcessesIn,
  handOver,
  type ColdReason,
  type WarmDriver,
  writeAssignment,
} from './warm-drivers';

/** The parts of the agent that a run needs. */
export interface RunContext {
  owner: NodeOwner;
  runtime: SparkRuntime;
  sandboxes: Sandboxes;
  /** Returns the node's environment for every run, as of the run's start. */
  env: () => Record<string, string>;
  /** Returns the secret with which drivers and daemons of the cluster authenticate to each other; null if they do not. */
  sparkSecret: () => string | null;
  /** Returns the maximum size of a run's output; bytes of each stream. */
  logLimit: () => number;
  controlPlane: ControlPlane;
  log: NodeLog;
  changed: (report: RunReport) => void;
  /** Takes a driver that waits for a run like this. */
  takeWarmDriver: (spec: RunSpec) => WarmDriver | ColdReason;
  /** Ends a driver that was taken for a run which could not be accepted. */
  discardWarmDriver: (driver: WarmDriver) => void;
  /** Returns true if reports say how runs were started. */
  reportsWarmth: () => boolean;
  /** Resolves once no executor of a killed application is left, as far as this node can see. */
  applicationGone: (master: string, applicationId: string) => Promise<void>;
}

/** File with the values of the run's secrets. It is kept as long as the logs in which they are masked. */
const SECRET_VALUES = 'secret-values.json';
/** Time that the end of a run waits for its log if the control plane responds but does not accept the log. */
const LOG_TIMEOUT_MS = 60_000;
/** Maximum length of a process id or a length in a file. */
const MAX_NUMBER_LENGTH = 40;
/** Spark writes events all the time, so they are shipped less often. */
const EVENTS_INTERVAL_MS = 1_000;

const MAX_PROPERTIES_BYTES = 1024 * 1024;
const READ_TIMEOUT_MS = 10_000;

/** One run on this node, from its files to its reported end. */
export class Run implements MeasurableRun {
  private child: ChildProcess | null = null;
  private process: ProcessId | null = null;
  private finishing = false;
  private discarded = false;
  private clearing: Promise<void> = Promise.resolve();
  private setDriverEnd: () => void = () => undefined;
  private readonly driverEnd = new Promise<void>((resolve) => {
    this.setDriverEnd = resolve;
  });
  private flushed = false;
  private hasBegun = false;
  private readonly logs: Record<OutputStream, BoundedLog>;
  private readonly events: EventLog;
  private readonly staged: StagedFiles;
  private readonly shippers: LogShipper[];
  private readonly eventShipper: LogShipper;
  private channel: RunChannel | null = null;
  private eventsAt = 0;
  /** Undefined until it is first used. */
  private secretMask: SecretMask | null | undefined;
  /** Path by which a restarted agent finds the run: its folder, or a link to it. */
  private readonly link: string;
  private readonly dir: string;
  private readonly sandbox: Sandbox;

  private constructor(
    private readonly context: RunContext,
    private readonly journal: RunJournal,
    offsets: Record<LogStream, number> | null,
    /** The driver that waits for this run. */
    private warm: WarmDriver | null = null,
  ) {
    this.link = `${context.owner.nodeDir}/runs/${journal.run_id}`;
    this.dir = warm?.dir ?? (existsSync(this.link) ? realpathSync(this.link) : this.link);
    this.sandbox = context.sandboxes.sandbox(this.dir, journal.sandbox);
    if (journal.end) this.setDriverEnd();
    const output = (stream: OutputStream) => new BoundedLog(`${this.dir}/${stream}`, context.logLimit);
    this.logs = { stdout: output('stdout'), stderr: output('stderr') };
    const { box, uid } = this.sandbox;
    const application = () => this.journal.application_id;
    this.staged = new StagedFiles(`${box}/staging`, (file, target, stopped) =>
      context.controlPlane.fetchFile(this.id, file, target, journal.correlation_id, stopped),
    );
    this.events = new EventLog(this.dir, `${box}/events`, uid, application, context.logLimit);
    const shipper = (stream: LogStream, log: MaskableLog, begin?: () => number | null) =>
      new LogShipper(
        new MaskedLog(log, stream === 'events' ? 'json' : 'text', () => this.mask()),
        offsets?.[stream] ?? null,
        (offset, chunk) =>
          context.controlPlane.sendLog(`/runs/${this.id}/logs/${stream}`, offset, chunk, journal.correlation_id),
        (error) => this.warn('The control plane refused a log of the run', { stream, error: error.message }),
        begin,
      );
    this.eventShipper = shipper('events', this.events);
    this.shippers = [
      shipper('stdout', this.logs.stdout, () => this.stdoutBegin()),
      shipper('stderr', this.logs.stderr),
      this.eventShipper,
    ];
  }

  /** Accepts a run: after this it is in the journal and a restarted agent knows it. */
  static accept(
    context: RunContext,
    accepted: { run_id: string; correlation_id: string; spec: RunSpec; offsets: Record<LogStream, number> },
  ): Run {
    const found = context.takeWarmDriver(accepted.spec);
    const warm = 'dir' in found ? found : null;
    const journal: RunJournal = {
      ...blankJournal(accepted.run_id, accepted.correlation_id),
      sandbox: warm?.sandboxIndex ?? context.sandboxes.allocate(),
      ...('dir' in found ? { warm: 'waiting' } : { cold_reason: found.coldReason }),
    };
    const run = new Run(context, journal, accepted.offsets, warm);
    try {
      if (warm) symlinkSync(warm.dir, run.link);
      else run.sandbox.create(DRIVER_FOLDERS);
      const values = secretValues(accepted.spec);
      if (values.length > 0) writeJson(`${run.dir}/${SECRET_VALUES}`, values);
      writeJson(`${run.dir}/spec.json`, accepted.spec);
      run.assign({});
      run.save();
      context.changed(run.report);
    } catch (error) {
      if (warm) context.discardWarmDriver(warm);
      throw error;
    }
    return run;
  }

  /** Returns the runs in the journals of an earlier agent. Folders without a journal belong to runs that were never accepted. */
  static async restore(context: RunContext): Promise<Run[]> {
    const runs = `${context.owner.nodeDir}/runs`;
    mkdirSync(runs, { recursive: true, mode: 0o700 });
    chmodSync(runs, folderMode(context.sandboxes.confinement));
    const journals = readdirSync(runs).map((name) => ({ name, journal: readJournal(`${runs}/${name}`, name) }));
    const never = journals.flatMap(({ name, journal }) => (journal ? [] : [`${runs}/${name}`]));
    // Awaited because the control plane may send the very same run again.
    if (never.length > 0) await removeTrees(never);
    return journals.flatMap(({ journal }) => {
      if (!journal) return [];
      if (journal.sandbox !== undefined) context.sandboxes.reserve(journal.sandbox);
      return [new Run(context, journal, null)];
    });
  }

  get id(): string {
    return this.journal.run_id;
  }

  /** True once the end is reported or ready to be: the run only has to be removed. */
  get ended(): boolean {
    return this.journal.state === 'ended';
  }

  /** Resolves once the driver has ended and the verdict is saved. */
  get driverEnded(): Promise<void> {
    return this.driverEnd;
  }

  get begun(): boolean {
    return this.hasBegun;
  }

  /** True if its process was started, possibly by an earlier agent. */
  get started(): boolean {
    return this.journal.end !== null || this.hasDriver;
  }

  /** True if a driver has the run. One that still waits for it has not. */
  private get hasDriver(): boolean {
    const { warm } = this.journal;
    return warm === undefined ? existsSync(`${this.dir}/started`) : warm === 'handed-over';
  }

  /** Stops sending. Unsent reports are in the journal. */
  close(): void {
    this.discarded = true;
    for (const shipper of this.shippers) shipper.close();
    this.channel?.close();
  }

  /** The report to send. It contains the end only once the log is sent. */
  get report(): RunReport {
    const { run_id, seq, state, application_id, pid, at } = this.journal;
    const end = state === 'ended' ? this.journal.end : null;
    return {
      run_id,
      seq,
      state,
      application_id,
      pid,
      at,
      outcome: end?.outcome ?? null,
      reason: end?.reason ?? null,
      message: end?.message ?? null,
      exit_code: end?.exit_code ?? null,
      ...this.startOfReport(),
      ...(end ? memoryOf(this.journal) : {}),
    };
  }

  /** Returns its processes while they can be measured. */
  get processes(): RunProcesses | null {
    return this.process === null || this.finishing ? null : { leader: this.process, uid: this.sandbox.uid };
  }

  get hasWarmDriver(): boolean {
    return this.journal.warm !== undefined;
  }

  /** Keeps the highest memory of its processes. */
  observeMemory(memoryMb: number): void {
    if (this.processes === null || memoryMb <= (this.journal.peak_memory_mb ?? 0)) return;
    this.journal.peak_memory_mb = memoryMb;
    this.trySave();
  }

  private startOfReport(): Pick<RunReport, 'started_warm' | 'cold_reason'> {
    const { cold_reason: reason } = this.journal;
    if (!this.context.reportsWarmth() || reason === undefined) return {};
    return reason === null ? { started_warm: true } : { started_warm: false, cold_reason: reason };
  }

  /** Starts the run, or resumes it from its journal. Resolves once the driver runs or the run has ended. */
  begin(): Promise<void> {
    this.hasBegun = true;
    if (this.journal.end) return this.endOnFailure(this.finish());
    if (this.hasDriver) return this.endOnFailure(this.adopt());
    return this.endOnFailure(this.journal.stop ? this.finishStopped(null) : this.submit());
  }

  /**
   * Asks the run to end, and kills it after `graceMs`. A second call can only shorten that.
   * @param message replaces the message of the cause
   */
  stop(cause: StopCause, graceMs: number, message?: string): void {
    if (this.journal.end) return;
    const killAt = Date.now() + graceMs;
    const { stop } = this.journal;
    if (stop) {
      if (killAt < stop.kill_at) this.change({ stop: { ...stop, kill_at: killAt } });
      return;
    }
    this.info('Stopping the run', { cause });
    this.change({
      stop: { cause, kill_at: killAt, forced: false, message },
      state: graceMs > 0 ? 'stopping' : 'killing',
    });
    this.staged.abort();
    if (this.process && graceMs > 0 && isAlive(this.process)) signalGroup(this.process.pid, 'SIGTERM');
    this.tick();
  }

  /** Does the periodic work: logs, the application id, deadlines, and processes that are not the agent's children. */
  tick(): void {
    this.ship();
    if (this.journal.end || !this.process) return;
    for (const log of Object.values(this.logs)) log.truncate();
    if (this.journal.application_id === null) this.findApplication();
    const now = Date.now();
    const { stop, deadline } = this.journal;
    if (stop && now >= stop.kill_at) {
      if (!stop.forced) this.change({ stop: { ...stop, forced: true }, state: 'killing' });
      killSession(this.process, this.context.owner);
    } else if (!stop && deadline !== null && now >= deadline) {
      this.stop('timeout', this.spec().kill_grace_ms);
    }
    if (!this.child && !isAlive(this.process)) void this.endOnFailure(this.finishProcess(null));
  }

  /** Kills what is left of the run and removes it, because the control plane no longer lists it. */
  async discard(): Promise<void> {
    this.close();
    this.staged.abort();
    this.finishing = true;
    await this.endProcesses();
    await this.clearing;
    await removeTrees([this.dir]);
    // Last, because a restarted agent does not find the folder without the link.
    if (this.link !== this.dir) await removeTrees([this.link]);
    if (this.journal.sandbox !== undefined) this.context.sandboxes.release(this.journal.sandbox);
  }

  private ship(): void {
    this.channel?.wake();
    const isDue = performance.now() - this.eventsAt >= EVENTS_INTERVAL_MS;
    if (isDue) this.eventsAt = performance.now();
    for (const shipper of this.shippers) if (isDue || shipper !== this.eventShipper) shipper.wake();
  }

  /** Ends the run if the agent itself fails; otherwise it would never end. */
  private async endOnFailure(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (this.discarded) return;
      this.warn('A run failed because of an error in the agent', { error: String(error) });
      await this.fail('AGENT_ERROR', `The agent of the node failed: ${(error as Error).message}`).catch(
        (failure: Error) => this.warn('The end of the run could not be saved', { error: failure.message }),
      );
    }
  }

  /** Returns the mask of the run's secrets for its logs; null for a run without secrets. */
  private mask(): SecretMask | null {
    if (this.secretMask === undefined) {
      const values = readJson<string[]>(`${this.dir}/${SECRET_VALUES}`);
      this.secretMask = values && new SecretMask(values);
    }
    return this.secretMask;
  }

  private spec(): RunSpec {
    const spec = readJson<RunSpec>(`${this.dir}/spec.json`);
    if (!spec) throw new Error('The specification of the run is missing');
    return spec;
  }

  private async submit(): Promise<void> {
    const spec = this.spec();
    const problem = await this.staged.fetch(spec);
    if (this.journal.stop) return this.finishStopped(null);
    if (problem) return this.fail(problem.reason, problem.message, problem.outcome);

    let setup;
    try {
      setup = await this.setup(spec);
      const isHandedOver = this.journal.warm !== undefined && (await this.submitWarm(spec, { ...setup, isWarm: true }));
      if (!isHandedOver && !this.journal.stop) await this.submitCold(spec, submitCommand(spec, setup));
    } catch (error) {
      if (error instanceof SubmitError) return this.fail('SUBMIT_FAILED', error.message, 'error');
      throw error;
    }
    if (this.journal.stop && !this.process) return this.finishStopped(null);
  }

  private async submitCold(spec: RunSpec, command: SubmitCommand): Promise<void> {
    for (const file of command.files) writeGenerated(file);
    this.journal.requested_memory_mb = Math.min(MAX_UTILIZATION, command.requestedMemoryMb);
    writeFileSync(`${this.dir}/stdin`, command.stdin, { mode: 0o600 });
    for (const stream of ['stdout', 'stderr']) closeSync(openSync(`${this.dir}/${stream}`, 'a', 0o600));
    this.writeNotes(command);
    if (spec.kind === 'raw-scala') this.journal.greets = true;
    // The run owns its streams so that it can open them by name, as /dev/stdout. It cannot replace them.
    this.sandbox.chownBox();
    this.sandbox.chown('stdin', 'stdout', 'stderr');
    this.makeChannel(spec);
    const argv = this.sandbox.launch('driver', command.argv, command.env, 'work');
    const child = startDriver(this.dir, this.sandbox, argv, this.journal.channel !== undefined);
    if (child.pid === undefined) {
      await this.exitOf(child);
      return;
    }
    this.follow(spec, child, identify(child.pid) ?? { pid: child.pid, startTime: '' });
  }

  /**
   * Hands the run over to the driver that waits for it.
   * @returns false if it has to be started cold, in the same folder, which then has nothing of the driver
   */
  private async submitWarm(spec: RunSpec, setup: SubmitSetup): Promise<boolean> {
    const { warm } = this;
    const command = submitCommand(spec, setup);
    const refusal = warm ? handoverRefusal(spec, setup, command) : 'The agent was restarted.';
    if (warm && refusal === null && isAlive(warm.process)) {
      for (const file of command.files) writeGenerated(file);
      if (command.stdin !== '') writeFileSync(`${this.dir}/stdin`, command.stdin, { flag: 'r+' });
      this.writeNotes(command);
      this.journal.requested_memory_mb = Math.min(MAX_UTILIZATION, command.requestedMemoryMb);
      if (spec.kind === 'raw-scala') this.journal.greets = true;
      this.sandbox.chownBox();
      writeAssignment(this.dir, assignmentText(command));
      this.makeChannel(spec);
      this.journal.warm = 'handed-over';
      this.journal.cold_reason = null;
      // Without this record, a restarted agent would start the run again.
      this.save();
      this.warm = null;
      if (handOver(this.dir)) {
        this.follow(spec, warm.child, warm.process);
        return true;
      }
    }
    await this.giveUpWarmDriver(refusal ?? 'The driver that waited for it has ended.');
    return false;
  }

  /** Ends the driver that waits for the run, and makes its folder one in which no driver was started. */
  private async giveUpWarmDriver(coldReason: string): Promise<void> {
    this.info('The run starts cold', { reason: coldReason });
    this.warm = null;
    await endProcessesIn(this.dir, this.sandbox, this.context.owner);
    await removeTrees([...WRAPPER_FILES, ...ASSIGNMENT_FILES, 'stdin'].map((name) => `${this.dir}/${name}`));
    for (const stream of ['stdout', 'stderr']) writeFileSync(`${this.dir}/${stream}`, '', { mode: 0o600 });
    delete this.journal.warm;
    this.journal.cold_reason = coldReason;
    this.save();
  }

  private writeNotes({ notes }: SubmitCommand): void {
    // A warm driver already has the file open, so it cannot be replaced.
    if (notes.length > 0) writeFileSync(`${this.dir}/stderr`, `${notes.join('\n')}\n`, { flag: 'r+' });
  }

  /** Reports the run as running, and follows its process to the end. */
  private follow(spec: RunSpec, child: ChildProcess, process: ProcessId): void {
    this.child = child;
    this.process = process;
    const exited = this.exitOf(child);
    const deadline = spec.timeout_ms === null ? null : Date.now() + spec.timeout_ms;
    this.change({ state: 'running', pid: process.pid, deadline });
    this.openChannel()?.start();
    this.info('Run started', { pid: process.pid, warm: String(this.journal.warm !== undefined) });
    void this.endOnFailure(exited.then((name) => this.childEnded(process.pid, name)));
  }

  private exitOf(child: ChildProcess): Promise<NodeJS.Signals | null> {
    return new Promise((resolve, reject) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve(child.signalCode);
      child.once('error', reject);
      child.once('exit', (_code, name) => resolve(name));
    });
  }

  private async setup(spec: RunSpec): Promise<SubmitSetup> {
    const paths = driverPaths(this.sandbox.box);
    // From here on the sandbox reads the paths that users choose: files of the machine and folders of settings.
    this.sandbox.chownBox();
    const properties: string[] = [];
    for (const file of spec.properties_files) properties.push(await this.readProperties(file));
    const { runtime } = this.context;
    const nodeEnv = this.context.env();
    const sparkSecret = spec.master.startsWith('spark://') ? this.context.sparkSecret() : null;
    const sparkDefaults = await this.sparkDefaults({ ...nodeEnv, ...spec.env });
    const locate = this.staged.locate.bind(this.staged);
    return { runtime, paths, nodeEnv, properties, locate, sparkDefaults, sparkSecret };
  }

  /** Returns the node's own properties, from the file that Spark would read. */
  private async sparkDefaults(env: Readonly<Record<string, string>>): Promise<string> {
    const folder = env['SPARK_CONF_DIR'];
    const file = `${folder ?? `${this.context.runtime.sparkHome}/conf`}/spark-defaults.conf`;
    if (folder === undefined) return readText(file) ?? '';
    return (await this.sandbox.read(file, MAX_PROPERTIES_BYTES, READ_TIMEOUT_MS)) ?? '';
  }

  private async childEnded(pid: number, name: NodeJS.Signals | null): Promise<void> {
    this.child = null;
    const winner = startedProcess(this.dir);
    // An agent that died right after spawning may have started a wrapper first, whose process then is the run.
    if (winner && winner.pid !== pid) return this.adopt();
    await this.finishProcess(name);
  }

  /** Takes over the process, or the end, that an earlier agent left. */
  private async adopt(): Promise<void> {
    // An agent that died after it had recorded the handover may not have made it.
    if (this.journal.warm === 'handed-over') handOver(this.dir);
    for (let tries = 0; !startedProcess(this.dir) && tries < 100; tries++) await pause(20);
    this.process = startedProcess(this.dir);
    if (!this.process || !isAlive(this.process)) return this.finishProcess(null);
    this.info('Run adopted from an earlier agent', { pid: this.process.pid });
    this.openChannel()?.start();
    if (this.journal.pid === null || this.journal.state === 'accepted') {
      const { timeout_ms: timeout } = this.spec();
      const deadline = this.journal.deadline ?? (timeout === null ? null : Date.now() + timeout);
      this.change({ state: this.journal.stop ? 'stopping' : 'running', pid: this.process.pid, deadline });
    }
    const { stop } = this.journal;
    if (stop && !stop.forced) signalGroup(this.process.pid, 'SIGTERM');
  }

  /** Creates the files for the requests and the frames of an interactive run. */
  private makeChannel({ kind }: RunSpec): void {
    if (!INTERACTIVE_KINDS.includes(kind)) return;
    for (const name of CHANNEL_FILES) closeSync(openSync(`${this.dir}/${name}`, 'a', 0o600));
    this.sandbox.chown(...CHANNEL_FILES);
    // The output of a notebook is stored for everyone who may see it. Other kinds return data to the caller, which must not change.
    this.journal.channel = kind === 'notebook' ? 'hiding' : 'plain';
    this.trySave();
  }

  private openChannel(): RunChannel | null {
    const { channel: kind, correlation_id: correlationId } = this.journal;
    if (this.channel || !kind) return this.channel;
    const { controlPlane } = this.context;
    this.channel = new RunChannel({
      requests: `${this.dir}/requests`,
      frames: `${this.dir}/frames`,
      calls: {
        requests: (after, waitMs, signal) => controlPlane.runRequests(this.id, after, waitMs, correlationId, signal),
        sendFrames: (records, signal) => controlPlane.sendFrames(this.id, records, correlationId, signal),
      },
      hide: (payload) => void (kind === 'hiding' && this.mask()?.mask(payload, 'json', true)),
      broken: (why) => this.warn('The channel of the run failed', { why }),
    });
    return this.channel;
  }

  private findApplication(): void {
    const id = this.events.findApplication();
    if (id !== null) this.change({ application_id: id });
  }

  private async finishProcess(name: string | null): Promise<void> {
    if (this.finishing) return;
    this.finishing = true;
    const left = this.endProcesses();
    const text = readText(`${this.dir}/exit`, MAX_NUMBER_LENGTH);
    const exitCode = text !== null && /^\d+\n$/.test(text) ? Number(text) : null;
    if (this.journal.application_id === null) this.findApplication();
    const [stdoutTail, stderrTail] = [this.logs.stdout.tail(this.mask()), this.logs.stderr.tail(this.mask())];
    if (this.journal.application_id === null)
      this.change({ application_id: applicationIdInLog(stderrTail) ?? applicationIdInLog(stdoutTail) });
    await left;
    if (this.journal.stop) return this.finishStopped(exitCode);
    if (exitCode !== 0) await this.applicationGone();
    const end = classifyEnd({ kind: this.spec().kind, exitCode, signal: name, stdoutTail, stderrTail });
    await this.endWith(end, exitCode);
  }

  private async finishStopped(exitCode: number | null): Promise<void> {
    const { stop } = this.journal;
    if (!stop) throw new Error('No stop was requested');
    if (this.journal.warm === 'waiting') await this.endProcesses();
    await this.applicationGone();
    const end = { ...STOPPED[stop.cause] };
    if (stop.message !== undefined) end.message = stop.message;
    if (stop.cause === 'stop' && stop.forced) {
      end.outcome = 'killed';
      end.message = 'The run was killed on request.';
    }
    await this.endWith(end, exitCode);
  }

  private async applicationGone(): Promise<void> {
    const { application_id: application } = this.journal;
    if (application !== null) await this.context.applicationGone(this.spec().master, application);
  }

  private async fail(reason: RunReason, message: string, outcome: RunOutcome = 'terminated'): Promise<void> {
    if (this.journal.end) return;
    this.finishing = true;
    await this.endProcesses();
    await this.endWith({ outcome, reason, message }, null);
  }

  private async endWith(end: RunEnd, exitCode: number | null): Promise<void> {
    this.finishing = true;
    // Saved first: if the agent dies here, the next one has the verdict and only has to send the log.
    this.journal.end = { ...end, message: `${end.message}${this.cutLogsNote()}`, exit_code: exitCode };
    this.stdoutBegin();
    this.events.archive();
    this.trySave();
    this.setDriverEnd();
    this.clearing = this.clear();
    this.info('Run ended', { outcome: end.outcome, reason: end.reason, exit_code: exitCode });
    await this.finish();
  }

  /** Removes files that are no longer needed and hold secrets (of mounts, of the environment), and everything that the job left. */
  private async clear(): Promise<void> {
    const left = ['box', 'spec.json', 'env-driver', ...ASSIGNMENT_FILES].map((name) => `${this.dir}/${name}`);
    await removeTrees(left).catch((error: Error) =>
      this.warn('The files of the run could not be removed', { error: error.message }),
    );
  }

  private cutLogsNote(): string {
    const all = Object.entries({ ...this.logs, 'event log': this.events });
    const cut = all.flatMap(([name, log]) => (log.isCut ? [name] : []));
    if (cut.length === 0) return '';
    return ` Its ${cut.join(' and ')} ${cut.length > 1 ? 'were' : 'was'} cut after ${this.context.logLimit()} bytes.`;
  }

  /** Sends the whole log and then reports the end, so that everyone who sees the end can see the whole log. */
  private async finish(): Promise<void> {
    const deadline = performance.now() + LOG_TIMEOUT_MS;
    const channel = this.openChannel();
    const all = [...this.shippers, ...(channel ? [channel] : [])].map((sender) => sender.drain());
    const drained = Promise.all(all).then(() => {
      this.flushed = true;
    });
    while (!this.flushed) {
      await Promise.race([drained, pause(1_000)]);
      const reached = performance.now() - this.context.controlPlane.lastContact < 10_000;
      if (!this.flushed && reached && performance.now() > deadline) {
        this.warn('The control plane does not accept the log, so the end is reported without it');
        break;
      }
    }
    this.change({ state: 'ended' });
  }

  /** Kills what is left of the run: its session, and every other process in its sandbox. */
  private async endProcesses(): Promise<void> {
    const { process: leader } = this;
    if (leader) await killAll(leader, this.context.owner);
    // A driver that waits for the run is known only by its folder.
    await endProcessesIn(this.dir, this.sandbox, this.context.owner);
  }

  private async readProperties(file: RunFile): Promise<string> {
    const path = this.staged.locate(file).replace(/^file:\/*/, '/');
    const text = path.startsWith('/') ? await this.sandbox.read(path, MAX_PROPERTIES_BYTES, READ_TIMEOUT_MS) : null;
    if (text === null) throw new SubmitError(`The properties file ${file.name} cannot be read on the node.`);
    return text;
  }

  /** Reads where the output of raw Scala starts. The interpreter writes that into the job's folder, so a job can only hide its own output. */
  private stdoutBegin(): number | null {
    const { greets, begin, end } = this.journal;
    if (!greets || begin !== null) return begin ?? 0;
    const text = readText(`${this.sandbox.box}/stdout.begin`, MAX_NUMBER_LENGTH) ?? '';
    const position = /^\d+$/.test(text) ? Math.min(Number(text), this.logs.stdout.kept) : end ? 0 : null;
    if (position !== null) {
      this.journal.begin = position;
      this.trySave();
    }
    return position;
  }

  private change(change: Partial<RunJournal>): void {
    if (this.discarded) return;
    this.assign(change);
    this.trySave();
    this.context.changed(this.report);
  }

  /** Saves if possible: on a full disk the run continues and is reported, but a restarted agent would not know of the change. */
  private trySave(): void {
    try {
      this.save();
    } catch (error) {
      this.warn('The journal of the run could not be written', { error: (error as Error).message });
    }
  }

  private assign(change: Partial<RunJournal>): void {
    Object.assign(this.journal, change, { seq: this.journal.seq + 1, at: new Date().toISOString() });
  }

  private save(): void {
    writeJson(`${this.dir}/state.json`, this.journal);
  }

  private info(message: string, fields: Record<string, string | number | null> = {}): void {
    this.context.log.info(message, { run_id: this.id, correlation_id: this.journal.correlation_id, ...fields });
  }

  private warn(message: string, fields: Record<string, string> = {}): void {
    this.context.log.warn(message, { run_id: this.id, correlation_id: this.journal.correlation_id, ...fields });
  }
}
