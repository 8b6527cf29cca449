import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ObservedDaemons, RunReport, RunSpec } from '../../libs/contracts/agent-protocol';
import type { ControlPlane } from '../../libs/node-agent/control-plane';
import { BoundedLog } from '../../libs/node-agent/bounded-log';
import { Daemons } from '../../libs/node-agent/daemons';
import { NodeLog } from '../../libs/node-agent/node-log';
import type { NodeOwner } from '../../libs/node-agent/processes';
import { Run, type RunContext } from '../../libs/node-agent/run';
import { type Confinement, folderMode, visiblePaths } from '../../libs/node-agent/sandbox';
import { Sandboxes } from '../../libs/node-agent/sandboxes';
import { WarmDrivers } from '../../libs/node-agent/warm-drivers';
import type { SparkRuntime } from '../../libs/spark/submit-command';
import { eventually } from './eventually';
import { preparedRuntime } from './prepared-runtime';
import { RunChannels, type ServedRun } from './run-channels';
import { plainRunSpec } from './run-spec';

const RUN_DEADLINE_MS = 300_000;

const SPEC = plainRunSpec({
  name: 'mounts',
  conf: ['spark.sql.shuffle.partitions=2', 'spark.ui.enabled=false'],
  driver_memory: '512m',
  executor_memory: '512m',
  timeout_ms: RUN_DEADLINE_MS - 10_000,
});

/** The end of a run, with its output. */
export interface EndedRun extends RunReport {
  stdout: string;
  stderr: string;
}

const LOG_LIMIT_BYTES = 10 * 1024 * 1024;

/** A Spark node from the agent's own parts, with real Spark and without a control plane. */
export class SparkNode {
  /** Its folder `shared` is writable for all runs. */
  readonly dir = mkdtempSync(join(tmpdir(), 'spark-node-'));
  readonly runtime: SparkRuntime;
  private readonly owner: NodeOwner;
  private readonly sandboxes: Sandboxes;
  private readonly warmDrivers: WarmDrivers;
  private readonly context: RunContext;
  private readonly log: NodeLog;
  private readonly daemons: Daemons;
  private observed: ObservedDaemons | null = null;
  private readonly channels = new RunChannels();
  private runs = 0;

  constructor(change: Partial<SparkRuntime> = {}, confinement: Confinement = { kind: 'none' }) {
    this.runtime = { ...preparedRuntime(), ...change };
    this.log = new NodeLog(this.dir);
    chmodSync(this.dir, folderMode(confinement));
    const { python, sparkHome, javaHome, classArchive, connectors } = this.runtime;
    const paths = [sparkHome, javaHome, classArchive, connectors];
    const uids = confinement.kind === 'users' ? { first: confinement.firstUid, count: confinement.uids } : null;
    this.owner = { nodeDir: this.dir, uids };
    for (const name of ['runs', 'warm', 'scripts', 'shared']) mkdirSync(`${this.dir}/${name}`, { recursive: true });
    chmodSync(`${this.dir}/shared`, 0o777);
    this.sandboxes = new Sandboxes(confinement, {
      visible: [...visiblePaths({ paths, python }), `${this.dir}/scripts`],
      shared: [`${this.dir}/shared`],
      mark: this.dir,
    });
    const limit = (): number => LOG_LIMIT_BYTES;
    this.daemons = new Daemons({
      owner: this.owner,
      runtime: this.runtime,
      sandboxes: this.sandboxes,
      bindAddress: '127.0.0.1',
      env: { SPARK_LOCAL_IP: '127.0.0.1' },
      log: this.log,
      logs: { stdout: new BoundedLog(this.log.stdout, limit), stderr: new BoundedLog(this.log.stderr, limit) },
      changed: (observed) => (this.observed = observed),
    });
    const { owner, runtime, sandboxes, log } = this;
    const env = (): Record<string, string> => this.daemons.env;
    this.warmDrivers = new WarmDrivers({
      owner,
      runtime,
      sandboxes,
      env,
      takesRuns: () => true,
      activeRuns: () => 0,
      log,
    });
    this.context = {
      ...{ owner, runtime, sandboxes, env, log },
      sparkSecret: () => this.daemons.sparkSecret,
      logLimit: () => 2 ** 30,
      controlPlane: takesLogs(this.channels),
      changed: () => undefined,
      takeWarmDriver: (spec) => this.warmDrivers.take(spec),
      discardWarmDriver: (driver) => this.warmDrivers.discardTaken(driver),
      reportsWarmth: () => true,
      applicationGone: (master, id) => this.daemons.applicationGone(master, id),
    };
  }

  /** Starts a standalone cluster of one worker and returns its master's address. */
  async startCluster(): Promise<string> {
    const worker = { workers: 1, worker_cores: 2, worker_memory_mb: 1024 };
    const nothing = { master_url: null, bootstrap_script: null, env: {} };
    const spark_secret = randomUUID();
    await this.daemons.apply({ role: 'master-and-workers', ...worker, ...nothing, spark_secret });
    await eventually(() => this.observed?.state === 'ready', { timeoutMs: 240_000, what: 'a cluster' });
    return this.observed?.master_url ?? '';
  }

  /** Starts drivers that wait for the next runs, however busy the machine is. Without runs before, they are like {@link run}. */
  async warmUp(count = 1): Promise<void> {
    this.wantDrivers(count, 100);
    await eventually(() => (this.warmDrivers.tick(), this.warmDrivers.readyCount === count), {
      timeoutMs: 150_000 * count,
      what: `${count} warm drivers`,
    });
    this.wantDrivers(count);
  }

  /** Lets runs ask for drivers that wait. None starts unless more pressure is allowed. */
  wantDrivers(count: number, max_cpu_pressure = -1): void {
    this.warmDrivers.apply({ count, driver_memory: SPEC.driver_memory, max_cpu_pressure });
  }

  /** Runs a job to its end: `python` as its script, or the application of `change`. */
  async run(change: Partial<RunSpec> & { python?: string }): Promise<EndedRun> {
    return this.end(this.accept(change));
  }

  /** Accepts a run as the agent does, without beginning it. */
  accept({ python, ...change }: Partial<RunSpec> & { python?: string }): Run {
    this.runs += 1;
    const script = `${this.dir}/scripts/job-${this.runs}.py`;
    if (python !== undefined) writeFileSync(script, python, { mode: 0o644 });
    const application = python === undefined ? null : { kind: 'uri' as const, index: 0, name: 'job.py', uri: script };
    return Run.accept(this.context, {
      run_id: String(this.runs),
      correlation_id: 'test',
      spec: { ...SPEC, application, ...change },
      offsets: { stdout: 0, stderr: 0, events: 0 },
    });
  }

  /** Returns the runs that an agent finds after a restart. */
  restore(): Promise<Run[]> {
    return Run.restore(this.context);
  }

  /** Begins a run and follows it to its end. */
  async end(run: Run): Promise<EndedRun> {
    const dir = `${this.dir}/runs/${run.id}`;
    const ticker = setInterval(() => run.tick(), 50);
    try {
      await run.begin();
      await eventually(() => run.ended, { timeoutMs: RUN_DEADLINE_MS, what: 'the end of the run' });
      await eventually(() => !existsSync(`${dir}/spec.json`), { what: 'the removal of what the run was given' });
    } finally {
      clearInterval(ticker);
      run.close();
    }
    const read = (stream: string): string => textOf(`${dir}/${stream}`);
    return { ...run.report, stdout: read('stdout'), stderr: read('stderr') };
  }

  /** Runs what serves requests while `use` needs it, and stops it then unless it ends by itself without requests. */
  async serve<T>(
    change: Partial<RunSpec>,
    use: (served: ServedRun) => Promise<T>,
  ): Promise<{ value: T; ended: EndedRun }> {
    const run = this.accept({ driver_memory: '512m', ...change });
    const ended = this.end(run);
    const tooEarly = ended.then((end): never => {
      throw new Error(`The run ended: ${end.reason}: ${end.message}\n${end.stderr.slice(-4_000)}`);
    });
    tooEarly.catch(() => undefined);
    try {
      const value = await Promise.race([use(this.channels.of(run.id)), tooEarly]);
      if (!change.sql_idle_timeout_sec) run.stop('stop', 20_000);
      return { value, ended: await ended };
    } finally {
      run.stop('stop', 0);
      await ended;
    }
  }

  /** Returns the files below the node's folder that hold one of the texts. */
  filesWith(...texts: string[]): string[] {
    const names = readdirSync(this.dir, { recursive: true, encoding: 'utf8' }).map((name) => join(this.dir, name));
    return names.filter((path) => {
      const content = textOf(path);
      return texts.some((text) => content.includes(text));
    });
  }

  /** Returns the lines with one of the texts in files below the node's folder, each after the path of its file. */
  linesWith(...texts: string[]): string[] {
    return this.filesWith(...texts).flatMap((path) =>
      textOf(path)
        .split('\n')
        .filter((line) => texts.some((text) => line.includes(text)))
        .map((line) => `${path}: ${line}`),
    );
  }

  async close(): Promise<void> {
    await Promise.all([this.daemons.stop(), this.warmDrivers.stop()]);
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** Python that prints one JSON object per figure: its value, or the error. */
export const REPORTING = `
import glob, json, os, stat
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
sc = spark.sparkContext
hadoop = sc._jsc.hadoopConfiguration()
def figure(name, action):
    try:
        value = action()
    except Exception as error:
        cause = getattr(error, 'java_exception', None)
        value = 'ERROR ' + (str(cause) if cause is not None else str(error))
    print(json.dumps({name: value}), flush=True)
`;

/** Returns the run if it is DONE; otherwise throws with the end of its log. */
export function done(run: EndedRun): EndedRun {
  if (run.outcome === 'done') return run;
  throw new Error(`${run.reason}: ${run.message}\n${run.stderr.slice(-6_000)}`);
}

/** Merges the JSON objects in a job's output into one. */
export function results(run: EndedRun): Record<string, unknown> {
  const lines = run.stdout.split('\n').filter((line) => line.startsWith('{'));
  if (lines.length === 0) throw new Error(`The job said nothing: ${run.message}\n${run.stderr.slice(-4_000)}`);
  return Object.assign({}, ...lines.map((line) => JSON.parse(line) as object)) as Record<string, unknown>;
}

/** Returns the strictest confinement that this machine allows: a user and a view of the machine for each run. */
export function strictestConfinement(): Confinement {
  const { bubblewrap } = preparedRuntime();
  if (process.getuid?.() === 0) return { kind: 'users', firstUid: 1_900_200_000, uids: 16, bubblewrap };
  return bubblewrap === null ? { kind: 'none' } : { kind: 'namespaces', bubblewrap };
}

/** A control plane that only accepts logs and has channels, which is enough for a run without workspace files. */
function takesLogs({ calls }: RunChannels): ControlPlane {
  const sendLog = (_path: string, offset: number, chunk: Buffer): Promise<number> =>
    Promise.resolve(offset + chunk.length);
  return { sendLog, ...calls, lastContact: performance.now() } as unknown as ControlPlane;
}

/** Returns the content of a file; empty for a folder or a file that was just removed. */
function textOf(path: string): string {
  try {
    return statSync(path).isFile() ? readFileSync(path, 'latin1') : '';
  } catch {
    return '';
  }
}
