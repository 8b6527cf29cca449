import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  INTERACTIVE_KINDS,
  type LogStream,
  type OutputStream,
  type RunFile,
  type RunOutcome,
  type RunReason,
  type RunReport,
  type RunSpec,
  type RunState,
} from '../contracts/agent-protocol';
import { applicationIdInLog } from '../spark/application-id';
import { classifyEnd, type RunEnd } from '../spark/run-end';
import { secretValues } from '../spark/run-secrets';
import type { GeneratedFile } from '../spark/scala-repl';
import { submitCommand, type RunPaths, type SparkRuntime, type SubmitCommand } from '../spark/submit-command';
import { SubmitError } from '../spark/submit-error';
import { BoundedLog } from './bounded-log';
import type { ControlPlane } from './control-plane';
import { EventLog } from './event-log';
import { readJson, readText, removeTrees, writeJson } from './files';
import { LogShipper } from './log-shipper';
import { type MaskableLog, MaskedLog } from './masked-log';
import type { NodeLog } from './node-log';
import { identify, isAlive, killSession, signalGroup, type NodeOwner, type ProcessId } from './processes';
import { folderMode, type Sandbox } from './sandbox';
import type { Sandboxes } from './sandboxes';
import { SecretMask } from './secret-mask';
import { RunChannel } from './run-channel';
import { StagedFiles } from './staged-files';
import { pause } from './waiting';

/** Why the agent ends a run. */
export type StopCause = 'stop' | 'timeout' | 'lease' | 'node-stop' | 'interruption';

/** What a run needs from its agent. */
export interface RunContext {
  owner: NodeOwner;
  runtime: SparkRuntime;
  sandboxes: Sandboxes;
  /** Environment of the node for every run, as it is when the run starts. */
  env: () => Record<string, string>;
  /** Secret with which drivers and daemons of the cluster authenticate to each other; null if they do not. */
  sparkSecret: () => string | null;
  /** How much of a run's output is kept; bytes of each stream. */
  logLimit: () => number;
  controlPlane: ControlPlane;
  log: NodeLog;
  changed: (report: RunReport) => void;
  /** Resolves once no executor of an application that was ended by force is left, as far as this node can tell. */
  applicationGone: (master: string, applicationId: string) => Promise<void>;
}

/** What the journal keeps of a run; with it a restarted agent goes on where the last one stopped. */
interface Journal {
  run_id: string;
  correlation_id: string;
  seq: number;
  state: RunState;
  application_id: string | null;
  pid: number | null;
  /** Which of the node's sandboxes it has; absent in journals of older agents, which had none. */
  sandbox?: number;
  /** Of a run that is sent requests: whether secrets are hidden in what it says. */
  channel?: 'hiding' | 'plain';
  /** Whether its output begins with a greeting, which is left out, and where the rest begins once that is known. */
  greets?: boolean;
  begin: number | null;
  at: string;
  /** Wall clock in milliseconds. */
  deadline: number | null;
  stop: { cause: StopCause; kill_at: number; forced: boolean; message?: string } | null;
  end: { outcome: RunOutcome; reason: RunReason; message: string; exit_code: number | null } | null;
}

/** The values of the run's secrets, which are there for as long as the logs that they are looked for in. */
const SECRET_VALUES = 'secret-values.json';
/** How long an end waits for its log when the control plane answers but takes no log. */
const LOG_DEADLINE_MS = 60_000;
/** A process id or a length in a file is no longer than this. */
const MAX_NUMBER_LENGTH = 40;
/** Sequence number beyond any that a run reaches, for reports made without its journal. */
export const LOST_SEQ = 1_000_000;

/** Spark writes events all the time, and nobody waits for each. */
const EVENTS_MS = 1_000;

const MAX_PROPERTIES_BYTES = 1024 * 1024;
const READ_DEADLINE_MS = 10_000;

/**
 * Runs the driver in its own session and leaves behind who ran and how it ended, so that it needs no parent. `mkdir`
 * lets only the first of two starts through. The trap keeps the wrapper alive when its group is asked to end. It is the agent's,
 * in a folder that the driver cannot write to: what it says of the end is true.
 */
const wrapper = (more: string) => `
cd "$1" && shift || exit 111
mkdir started 2>/dev/null || exit 111
read -r a b c d e f g h i j k l m n o p q r s t u start rest </proc/$$/stat
echo "$$ $start" >pid
trap : TERM INT HUP
"$@" <stdin >>stdout 2>>stderr${more}
echo $? >exit
`;

/** Descriptors of a run that is sent requests, 3, and answers with frames, 4; it could not open these files by their names. */
const CHANNEL = ' 3<requests 4>>frames';

const STOPPED: Record<StopCause, { outcome: RunOutcome; reason: RunReason; message: string }> = {
  stop: { outcome: 'stopped', reason: 'STOP_REQUESTED', message: 'The run was stopped on request.' },
  timeout: {
    outcome: 'terminated',
    reason: 'TIMEOUT',
    message: 'The run took longer than its job_timeout_min. Raise it, or give the job less to do.',
  },
  lease: {
    outcome: 'terminated',
    reason: 'LEASE_EXPIRED',
    message: 'The node could not reach the control plane for longer than its lease, so it ended its runs.',
  },
  'node-stop': { outcome: 'terminated', reason: 'NODE_STOPPED', message: 'The node was stopped.' },
  interruption: {
    outcome: 'terminated',
    reason: 'SPOT_INTERRUPTED',
    message: 'The provider takes the machine of the run back.',
  },
};

/** One run on this node, from its files to its reported end. */
export class Run {
  private child: ChildProcess | null = null;
  private process: ProcessId | null = null;
  private finishing = false;
  private discarded = false;
  private clearing: Promise<void> = Promise.resolve();
  private setOver: () => void = () => undefined;
  private readonly over = new Promise<void>((resolve) => {
    this.setOver = resolve;
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
  /** Undefined until it is needed. */
  private secretMask: SecretMask | null | undefined;
  private readonly dir: string;
  private readonly sandbox: Sandbox;

  private constructor(
    private readonly context: RunContext,
    private readonly journal: Journal,
    offsets: Record<LogStream, number> | null,
  ) {
    this.dir = `${context.owner.nodeDir}/runs/${journal.run_id}`;
    this.sandbox = context.sandboxes.of(this.dir, journal.sandbox);
    if (journal.end) this.setOver();
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
        (error) => this.warn('log refused', { stream, error: error.message }),
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
    const journal = { ...blankJournal(accepted.run_id, accepted.correlation_id), sandbox: context.sandboxes.take() };
    const run = new Run(context, journal, accepted.offsets);
    run.sandbox.make(['work', 'home', 'events', 'tmp', 'local', 'staging', 'generated']);
    const values = secretValues(accepted.spec);
    if (values.length > 0) writeJson(`${run.dir}/${SECRET_VALUES}`, values);
    writeJson(`${run.dir}/spec.json`, accepted.spec);
    run.assign({});
    run.save();
    context.changed(run.report);
    return run;
  }

  /** Runs in the journals of an earlier agent. Folders without one are left over from a run that was never accepted. */
  static async restore(context: RunContext): Promise<Run[]> {
    const runs = `${context.owner.nodeDir}/runs`;
    mkdirSync(runs, { recursive: true, mode: 0o700 });
    chmodSync(runs, folderMode(context.sandboxes.confinement));
    const journals = readdirSync(runs).map((name) => ({ name, journal: readJournal(`${runs}/${name}`, name) }));
    const never = journals.flatMap(({ name, journal }) => (journal ? [] : [`${runs}/${name}`]));
    // Awaited: the control plane may send the very same run again.
    if (never.length > 0) await removeTrees(never);
    return journals.flatMap(({ journal }) => {
      if (!journal) return [];
      if (journal.sandbox !== undefined) context.sandboxes.keep(journal.sandbox);
      return [new Run(context, journal, null)];
    });
  }

  get id(): string {
    return this.journal.run_id;
  }

  /** Whether the end is on its way to the control plane, or there: nothing is left to do but to forget the run. */
  get ended(): boolean {
    return this.journal.state === 'ended';
  }

  /** Resolves once the driver is gone and the verdict is kept. */
  get gone(): Promise<void> {
    return this.over;
  }

  get begun(): boolean {
    return this.hasBegun;
  }

  /** Whether its process was started, if perhaps by an agent before this one. */
  get started(): boolean {
    return this.journal.end !== null || existsSync(`${this.dir}/started`);
  }

  /** Stops sending; what was not sent is in the journal. */
  close(): void {
    this.discarded = true;
    for (const shipper of this.shippers) shipper.close();
    this.channel?.close();
  }

  /** The report to send: an end becomes one only after its log. */
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
    };
  }

  /** Starts the run, or finds it where the journal says it is. Returns when the driver runs or the run ended. */
  begin(): Promise<void> {
    this.hasBegun = true;
    if (this.journal.end) return this.settle(this.finish());
    if (existsSync(`${this.dir}/started`)) return this.settle(this.adopt());
    return this.settle(this.journal.stop ? this.finishStopped(null) : this.submit());
  }

  /**
   * Asks the run to end, and sees to it that it does `graceMs` later. A second call can only shorten that.
   * @param message if there is more to say than the cause
   */
  stop(cause: StopCause, graceMs: number, message?: string): void {
    if (this.journal.end) return;
    const killAt = Date.now() + graceMs;
    const { stop } = this.journal;
    if (stop) {
      if (killAt < stop.kill_at) this.change({ stop: { ...stop, kill_at: killAt } });
      return;
    }
    this.info('ending run', { cause });
    this.change({
      stop: { cause, kill_at: killAt, forced: false, message },
      state: graceMs > 0 ? 'stopping' : 'killing',
    });
    this.staged.abort();
    if (this.process && graceMs > 0 && isAlive(this.process)) signalGroup(this.process.pid, 'SIGTERM');
    this.tick();
  }

  /** Handles what has no event of its own: logs, the application id, deadlines, a process that is not a child. */
  tick(): void {
    this.ship();
    if (this.journal.end || !this.process) return;
    for (const log of Object.values(this.logs)) log.keepBounded();
    if (this.journal.application_id === null) this.findApplication();
    const now = Date.now();
    const { stop, deadline } = this.journal;
    if (stop && now >= stop.kill_at) {
      if (!stop.forced) this.change({ stop: { ...stop, forced: true }, state: 'killing' });
      killSession(this.process, this.context.owner);
    } else if (!stop && deadline !== null && now >= deadline) {
      this.stop('timeout', this.spec().kill_grace_ms);
    }
    if (!this.child && !isAlive(this.process)) void this.settle(this.finishProcess(null));
  }

  /** Ends at once whatever is left of the run and forgets it; the control plane wants no more of it. */
  async discard(): Promise<void> {
    this.close();
    this.staged.abort();
    this.finishing = true;
    await this.endProcesses();
    await this.clearing;
    await removeTrees([this.dir]);
    if (this.journal.sandbox !== undefined) this.context.sandboxes.release(this.journal.sandbox);
  }

  private ship(): void {
    this.channel?.kick();
    const isDue = performance.now() - this.eventsAt >= EVENTS_MS;
    if (isDue) this.eventsAt = performance.now();
    for (const shipper of this.shippers) if (isDue || shipper !== this.eventShipper) shipper.kick();
  }

  /** A failure of the agent itself ends the run rather than leave it without an end. */
  private async settle(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (this.discarded) return;
      this.warn('run failed in the agent', { error: String(error) });
      await this.fail('AGENT_ERROR', `The agent could not run it: ${(error as Error).message}`).catch((again: Error) =>
        this.warn('end not kept', { error: again.message }),
      );
    }
  }

  /** What hides the run's secrets in its logs; null for a run without. */
  private mask(): SecretMask | null {
    if (this.secretMask === undefined) {
      const values = readJson<string[]>(`${this.dir}/${SECRET_VALUES}`);
      this.secretMask = values && new SecretMask(values);
    }
    return this.secretMask;
  }

  private spec(): RunSpec {
    const spec = readJson<RunSpec>(`${this.dir}/spec.json`);
    if (!spec) throw new Error('its description is gone from the node');
    return spec;
  }

  private async submit(): Promise<void> {
    const spec = this.spec();
    const problem = await this.staged.fetch(spec);
    if (this.journal.stop) return this.finishStopped(null);
    if (problem) return this.fail(problem.reason, problem.message, problem.outcome);

    let command;
    try {
      command = await this.command(spec);
    } catch (error) {
      if (error instanceof SubmitError) return this.fail('SUBMIT_FAILED', error.message, 'error');
      throw error;
    }
    for (const file of command.files) writeGenerated(file);
    if (this.journal.stop) return this.finishStopped(null);
    writeFileSync(`${this.dir}/stdin`, command.stdin, { mode: 0o600 });
    for (const stream of ['stdout', 'stderr']) closeSync(openSync(`${this.dir}/${stream}`, 'a', 0o600));
    if (command.notes.length > 0) writeFileSync(`${this.dir}/stderr`, `${command.notes.join('\n')}\n`);
    if (spec.kind === 'raw-scala') this.journal.greets = true;
    // The streams are its own, so that it can open them by their names, as /dev/stdout; replace them it cannot.
    this.sandbox.own();
    this.sandbox.give('stdin', 'stdout', 'stderr');
    this.makeChannel(spec);
    const argv = this.sandbox.launch('driver', command.argv, command.env, 'work');
    const child = spawn('/bin/sh', ['-c', wrapper(this.journal.channel ? CHANNEL : ''), 'run', this.dir, ...argv], {
      detached: true,
      stdio: 'ignore',
      env: this.sandbox.environment(),
    });
    this.child = child;
    const exited = new Promise<NodeJS.Signals | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (_code, name) => resolve(name));
    });
    if (child.pid === undefined) {
      await exited;
      return;
    }
    this.process = identify(child.pid) ?? { pid: child.pid, startTime: '' };
    const deadline = spec.timeout_ms === null ? null : Date.now() + spec.timeout_ms;
    this.change({ state: 'running', pid: child.pid, deadline });
    this.info('run started', { pid: child.pid });
    this.openChannel()?.start();
    const { pid } = child;
    void this.settle(exited.then((name) => this.childEnded(pid, name)));
  }

  private async command(spec: RunSpec): Promise<SubmitCommand> {
    const { box } = this.sandbox;
    const paths: RunPaths = {
      work: `${box}/work`,
      home: `${box}/home`,
      events: `${box}/events`,
      local: `${box}/local`,
      tmp: `${box}/tmp`,
      generated: `${box}/generated`,
      stdoutBegin: `${box}/stdout.begin`,
    };
    // From here on it is the sandbox that reads what the user names: files of the machine, and folders of settings.
    this.sandbox.own();
    const properties: string[] = [];
    for (const file of spec.properties_files) properties.push(await this.readProperties(file));
    const { runtime } = this.context;
    const nodeEnv = this.context.env();
    const sparkSecret = spec.master.startsWith('spark://') ? this.context.sparkSecret() : null;
    const sparkDefaults = await this.sparkDefaults({ ...nodeEnv, ...spec.env });
    const locate = this.staged.locate.bind(this.staged);
    return submitCommand(spec, { runtime, paths, nodeEnv, properties, locate, sparkDefaults, sparkSecret });
  }

  /** The node's own properties, from where Spark would read them. */
  private async sparkDefaults(env: Readonly<Record<string, string>>): Promise<string> {
    const folder = env['SPARK_CONF_DIR'];
    const file = `${folder ?? `${this.context.runtime.sparkHome}/conf`}/spark-defaults.conf`;
    if (folder === undefined) return readText(file) ?? '';
    return (await this.sandbox.read(file, MAX_PROPERTIES_BYTES, READ_DEADLINE_MS)) ?? '';
  }

  private async childEnded(pid: number, name: NodeJS.Signals | null): Promise<void> {
    this.child = null;
    const winner = this.startedProcess();
    // The wrapper of an agent that died right after spawning it may have come first; then that one is the run.
    if (winner && winner.pid !== pid) return this.adopt();
    await this.finishProcess(name);
  }

  /** Takes over the process of an earlier agent, or of its end. */
  private async adopt(): Promise<void> {
    for (let tries = 0; !this.startedProcess() && tries < 100; tries++) await pause(20);
    this.process = this.startedProcess();
    if (!this.process) return this.finishProcess(null);
    if (!isAlive(this.process)) return this.finishProcess(null);
    this.info('run found again', { pid: this.process.pid });
    this.openChannel()?.start();
    if (this.journal.pid === null || this.journal.state === 'accepted') {
      const { timeout_ms: timeout } = this.spec();
      const deadline = this.journal.deadline ?? (timeout === null ? null : Date.now() + timeout);
      this.change({ state: this.journal.stop ? 'stopping' : 'running', pid: this.process.pid, deadline });
    }
    const { stop } = this.journal;
    if (stop && !stop.forced) signalGroup(this.process.pid, 'SIGTERM');
  }

  /** Makes what the process of an interactive run is asked and answers with. */
  private makeChannel({ kind }: RunSpec): void {
    if (!INTERACTIVE_KINDS.includes(kind)) return;
    for (const name of ['requests', 'frames']) closeSync(openSync(`${this.dir}/${name}`, 'a', 0o600));
    this.sandbox.give('requests', 'frames');
    // What a notebook says is kept for all who may see it; other kinds answer whoever asked with data, which must stay as it is.
    this.journal.channel = kind === 'notebook' ? 'hiding' : 'plain';
    this.keep();
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
      broken: (why) => this.warn('channel ended', { why }),
    });
    return this.channel;
  }

  private startedProcess(): ProcessId | null {
    const found = /^(\d+) (\d+)\n/.exec(readText(`${this.dir}/pid`) ?? '');
    return found ? { pid: Number(found[1]), startTime: found[2] ?? '' } : null;
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
    if (!stop) throw new Error('it was not asked to end');
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
    // Saved first: should the agent die here, the next one has the verdict and only the log is left to do.
    this.journal.end = { ...end, message: `${end.message}${this.aboutLogs()}`, exit_code: exitCode };
    this.stdoutBegin();
    this.events.settle();
    this.keep();
    this.setOver();
    this.clearing = this.clear();
    this.info('run ended', { outcome: end.outcome, reason: end.reason, exit_code: exitCode });
    await this.finish();
  }

  /**
   * Removes what is no longer needed and holds secrets (of mounts, of the environment), and whatever the job left
   * behind.
   */
  private async clear(): Promise<void> {
    const left = ['box', 'spec.json', 'env-driver'].map((name) => `${this.dir}/${name}`);
    await removeTrees(left).catch((error: Error) => this.warn('folders left behind', { error: error.message }));
  }

  private aboutLogs(): string {
    const all = Object.entries({ ...this.logs, 'event log': this.events });
    const cut = all.flatMap(([name, log]) => (log.isCut ? [name] : []));
    if (cut.length === 0) return '';
    return ` Its ${cut.join(' and ')} ${cut.length > 1 ? 'were' : 'was'} cut after ${this.context.logLimit()} bytes.`;
  }

  /** Brings the whole log to the store and then reports the end, so that whoever sees the end sees the whole log. */
  private async finish(): Promise<void> {
    const given = performance.now() + LOG_DEADLINE_MS;
    const channel = this.openChannel();
    const all = [...this.shippers, ...(channel ? [channel] : [])].map((way) => way.drain());
    const drained = Promise.all(all).then(() => {
      this.flushed = true;
    });
    while (!this.flushed) {
      await Promise.race([drained, pause(1_000)]);
      const reached = performance.now() - this.context.controlPlane.lastContact < 10_000;
      if (!this.flushed && reached && performance.now() > given) {
        this.warn('the end is reported before its log, which the control plane does not take');
        break;
      }
    }
    this.change({ state: 'ended' });
  }

  /** Ends what is left of the run: its session, and everything else in its sandbox. */
  private async endProcesses(): Promise<void> {
    const { process: leader } = this;
    if (leader) {
      for (let tries = 0; !killSession(leader, this.context.owner) && tries < 500; tries++) await pause(10);
    }
    await this.sandbox.clear();
  }

  private async readProperties(file: RunFile): Promise<string> {
    const path = this.staged.locate(file).replace(/^file:\/*/, '/');
    const text = path.startsWith('/') ? await this.sandbox.read(path, MAX_PROPERTIES_BYTES, READ_DEADLINE_MS) : null;
    if (text === null) throw new SubmitError(`The properties file ${file.name} cannot be read on the node.`);
    return text;
  }

  /** Where the output of raw Scala begins is told by the interpreter, in the job's own folder: it can only hide its own output. */
  private stdoutBegin(): number | null {
    const { greets, begin, end } = this.journal;
    if (!greets || begin !== null) return begin ?? 0;
    const text = readText(`${this.sandbox.box}/stdout.begin`, MAX_NUMBER_LENGTH) ?? '';
    const told = /^\d+$/.test(text) ? Math.min(Number(text), this.logs.stdout.kept) : end ? 0 : null;
    if (told !== null) {
      this.journal.begin = told;
      this.keep();
    }
    return told;
  }

  private change(change: Partial<Journal>): void {
    if (this.discarded) return;
    this.assign(change);
    this.keep();
    this.context.changed(this.report);
  }

  /** Saves if it can: on a full disk the run goes on and is reported, and only another agent would not know of it. */
  private keep(): void {
    try {
      this.save();
    } catch (error) {
      this.warn('journal not written', { error: (error as Error).message });
    }
  }

  private assign(change: Partial<Journal>): void {
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

function writeGenerated({ path, content, isProgram }: GeneratedFile): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, content, { mode: isProgram ? 0o700 : 0o600 });
}

/** Journal of a run; one that the machine's own end left unreadable tells that the run is lost, not that it never was. */
function readJournal(dir: string, runId: string): Journal | null {
  try {
    return readJson<Journal>(`${dir}/state.json`);
  } catch {
    const message = 'The node lost its record of the run.';
    return {
      ...blankJournal(runId, ''),
      seq: LOST_SEQ,
      end: { outcome: 'terminated', reason: 'AGENT_ERROR', message, exit_code: null },
    };
  }
}

function blankJournal(runId: string, correlationId: string): Journal {
  return {
    run_id: runId,
    correlation_id: correlationId,
    seq: 0,
    state: 'accepted',
    application_id: null,
    pid: null,
    at: new Date().toISOString(),
    begin: null,
    deadline: null,
    stop: null,
    end: null,
  };
}
