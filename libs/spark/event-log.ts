import { singleLine } from '../contracts/single-line';
import { readUntrusted, type UntrustedBounds } from '../json/parse-json';

/** The counters of one stage, one executor or the application; bytes and milliseconds. */
interface Work {
  /** Task attempts that have ended. */
  tasks: number;
  failed_tasks: number;
  input_bytes: number;
  output_bytes: number;
  shuffle_read_bytes: number;
  shuffle_write_bytes: number;
  /** Bytes spilled to disk. */
  spilled_bytes: number;
  gc_ms: number;
}

export const STAGE_STATUSES = ['PENDING', 'ACTIVE', 'COMPLETE', 'FAILED', 'ABORTED'] as const;
export type StageStatus = (typeof STAGE_STATUSES)[number];

export interface StageMetrics extends Omit<Work, 'gc_ms'> {
  stage_id: number;
  attempt: number;
  name: string;
  /** PENDING: its Spark job has started, but the stage has not. ABORTED: the application ended before the stage did. */
  status: StageStatus;
  /** Number of tasks in the stage. */
  planned_tasks: number;
  /** Null until it has started, and if the log has no time for it. */
  start_date: Date | null;
  /** From submission to completion, or to the last event so far. */
  duration_ms: number;
}

export interface ExecutorMetrics {
  /** `driver` is the driver, which has no cores unless it runs the tasks itself. */
  executor_id: string;
  host: string;
  cores: number;
  /** Peak memory of the JVM, on and off the heap. */
  peak_memory_bytes: number;
  gc_ms: number;
  tasks: number;
}

export interface ApplicationMetrics {
  stages: StageMetrics[];
  executors: ExecutorMetrics[];
  totals: Work & { duration_ms: number };
}

interface Stage extends Omit<StageMetrics, 'duration_ms' | 'start_date'> {
  /** The Spark job that a PENDING stage belongs to; null once the stage has started. */
  job: number | null;
  from: number;
  to: number | null;
}

type Fields = Readonly<Record<string, unknown>>;

/** Beyond this, the oldest stages are dropped and further executors are ignored. The totals count all. */
export const MAX_STAGES = 1_000;
export const MAX_EXECUTORS = 1_000;

/** Longer lines are skipped. Spark writes up to about 100 KiB, in plans and class paths, which are not read here. */
const MAX_LINE_LENGTH = 1024 * 1024;
const EVENT_JSON: UntrustedBounds = { bytes: MAX_LINE_LENGTH, values: 500_000, levels: 200 };
const MAX_NAME_LENGTH = 500;
/** The last moment that a Date can have. */
const MAX_TIME_MS = 8.64e15;
const LINE_END = 0x0a;
const EVENT = /^\{"Event":"(\w{1,60})"/;
const EVENT_PREFIX_LENGTH = 80;

/**
 * Reads Spark's event log in chunks, as JSON lines like the History Server does, and sums up the work of stages, executors and the
 * application. The job can write anything into this file, so everything that Spark would not write is skipped and memory is bounded.
 */
export class EventLogReader {
  private rest: Buffer[] = [];
  private restLength = 0;
  private isSkipping = false;
  private readonly stages = new Map<string, Stage>();
  /** Keys of the PENDING stages by job. All of them are also in `stages`, which bounds both. */
  private readonly pending = new Map<number, Set<string>>();
  private readonly executors = new Map<string, ExecutorMetrics>();
  private readonly totals = emptyWork();
  private startedAt: number | null = null;
  private last = 0;
  private bytes = 0;

  /** Number of bytes read. */
  get offset(): number {
    return this.bytes;
  }

  /** Reads `chunk`, which follows the bytes read so far. */
  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    let from = 0;
    for (let end = chunk.indexOf(LINE_END); end !== -1; end = chunk.indexOf(LINE_END, from)) {
      this.append(chunk.subarray(from, end));
      if (!this.isSkipping) this.readLine(this.rest.length === 1 ? this.rest[0]! : Buffer.concat(this.rest));
      this.reset(false);
      from = end + 1;
    }
    // Copies the part: a slice would keep the whole chunk in memory.
    if (from < chunk.length) this.append(Buffer.from(chunk.subarray(from)));
  }

  /** @param isOver true if the application has ended, whatever its log says */
  metrics(isOver: boolean): ApplicationMetrics {
    return {
      stages: [...this.stages.values()].map(({ job, from, to, status, ...stage }) => ({
        ...stage,
        start_date: job === null && from > 0 && from <= MAX_TIME_MS ? new Date(from) : null,
        status: isOver && isOpen(status) ? 'ABORTED' : status,
        duration_ms: Math.max(0, (to ?? this.last) - from),
      })),
      executors: [...this.executors.values()].map((executor) => ({ ...executor })),
      totals: { ...this.totals, duration_ms: this.startedAt === null ? 0 : Math.max(0, this.last - this.startedAt) },
    };
  }

  private append(part: Buffer): void {
    if (this.isSkipping) return;
    this.rest.push(part);
    this.restLength += part.length;
    if (this.restLength > MAX_LINE_LENGTH) this.reset(true);
  }

  private reset(isSkipping: boolean): void {
    this.rest = [];
    this.restLength = 0;
    this.isSkipping = isSkipping;
  }

  private readLine(line: Buffer): void {
    const name = EVENT.exec(line.toString('latin1', 0, EVENT_PREFIX_LENGTH))?.[1] ?? '';
    const read = this.events.get(name);
    if (!read) return;
    const event = readUntrusted(line, EVENT_JSON);
    if (event !== undefined) read(fields(event));
  }

  private readonly events = new Map<string, (event: Fields) => void>([
    ['SparkListenerApplicationStart', (event) => (this.startedAt ??= this.recordTime(event['Timestamp']))],
    ['SparkListenerApplicationEnd', (event) => this.recordTime(event['Timestamp'])],
    ['SparkListenerJobStart', (event) => this.jobStart(event)],
    ['SparkListenerJobEnd', (event) => this.jobEnd(event)],
    ['SparkListenerStageSubmitted', (event) => this.stage(fields(event['Stage Info']))],
    ['SparkListenerStageCompleted', (event) => this.stage(fields(event['Stage Info']))],
    ['SparkListenerTaskEnd', (event) => this.taskEnd(event)],
    ['SparkListenerExecutorAdded', (event) => this.executorAdded(event)],
    ['SparkListenerBlockManagerAdded', (event) => this.blockManagerAdded(fields(event['Block Manager ID']))],
    ['SparkListenerStageExecutorMetrics', (event) => this.memoryUsed(event['Executor ID'], event['Executor Metrics'])],
  ]);

  private recordTime(time: unknown): number {
    const at = count(time);
    this.last = Math.max(this.last, at);
    return at;
  }

  /** Spark flushes its log with this event, but not with the event of a starting stage. */
  private jobStart(event: Fields): void {
    this.recordTime(event['Submission Time']);
    const job = count(event['Job ID']);
    const infos = Array.isArray(event['Stage Infos']) ? (event['Stage Infos'] as unknown[]) : [];
    for (const info of infos.slice(0, MAX_STAGES).map(fields)) {
      if (!this.stages.has(keyOf(info))) describe(this.newStage(info, job), info);
    }
  }

  /** Removes the stages that the job skipped because an earlier job had already computed their output. */
  private jobEnd(event: Fields): void {
    this.recordTime(event['Completion Time']);
    const job = count(event['Job ID']);
    for (const key of this.pending.get(job) ?? []) this.stages.delete(key);
    this.pending.delete(job);
  }

  private stage(info: Fields): void {
    const stage = this.startedStage(info);
    describe(stage, info);
    stage.from = this.recordTime(info['Submission Time']) || stage.from;
    if (info['Completion Time'] === undefined) return;
    stage.to = this.recordTime(info['Completion Time']);
    stage.status = info['Failure Reason'] === undefined ? 'COMPLETE' : 'FAILED';
  }

  /** Returns the stage that an event names, and marks it as started. */
  private startedStage(ids: Fields): Stage {
    const known = this.stages.get(keyOf(ids));
    if (!known) return this.newStage(ids, null);
    if (known.job !== null) {
      this.noLongerPending(known);
      known.status = 'ACTIVE';
    }
    return known;
  }

  /** @param job the Spark job that a PENDING stage belongs to; null if the stage has started */
  private newStage(ids: Fields, job: number | null): Stage {
    const { gc_ms: _of, ...work } = emptyWork();
    const stage: Stage = {
      stage_id: count(ids['Stage ID']),
      attempt: count(ids['Stage Attempt ID']),
      name: '',
      status: job === null ? 'ACTIVE' : 'PENDING',
      planned_tasks: 0,
      ...work,
      job,
      from: this.last,
      to: null,
    };
    const key = keyOf(ids);
    const [oldest] = this.stages;
    if (this.stages.size >= MAX_STAGES && oldest) {
      this.noLongerPending(oldest[1]);
      this.stages.delete(oldest[0]);
    }
    this.stages.set(key, stage);
    if (job !== null) this.pending.set(job, (this.pending.get(job) ?? new Set<string>()).add(key));
    return stage;
  }

  private noLongerPending(stage: Stage): void {
    if (stage.job === null) return;
    const keysOfJob = this.pending.get(stage.job);
    keysOfJob?.delete(`${stage.stage_id}.${stage.attempt}`);
    if (keysOfJob?.size === 0) this.pending.delete(stage.job);
    stage.job = null;
  }

  private taskEnd(event: Fields): void {
    const info = fields(event['Task Info']);
    this.recordTime(info['Finish Time']);
    const work = workOf(fields(event['Task Metrics']), info);
    add(this.totals, work);
    add(this.startedStage(event), work);
    const executor = this.executorOf(info['Executor ID'], info['Host']);
    if (executor) {
      executor.tasks = sum(executor.tasks, 1);
      executor.gc_ms = sum(executor.gc_ms, work.gc_ms);
    }
    this.memoryUsed(info['Executor ID'], event['Task Executor Metrics']);
  }

  private executorAdded(event: Fields): void {
    this.recordTime(event['Timestamp']);
    const info = fields(event['Executor Info']);
    const executor = this.executorOf(event['Executor ID'], info['Host']);
    if (executor) executor.cores = count(info['Total Cores']);
  }

  private blockManagerAdded(id: Fields): void {
    this.executorOf(id['Executor ID'], id['Host']);
  }

  /** Returns null for executors beyond MAX_EXECUTORS. */
  private executorOf(idField: unknown, host: unknown): ExecutorMetrics | null {
    const id = text(idField);
    const known = this.executors.get(id);
    if (known) return known;
    if (id === '' || this.executors.size >= MAX_EXECUTORS) return null;
    const executor = { executor_id: id, host: text(host), cores: 0, peak_memory_bytes: 0, gc_ms: 0, tasks: 0 };
    this.executors.set(id, executor);
    return executor;
  }

  private memoryUsed(executorId: unknown, metrics: unknown): void {
    const executor = this.executors.get(text(executorId));
    if (!executor) return;
    const { JVMHeapMemory: onHeap, JVMOffHeapMemory: offHeap } = fields(metrics);
    executor.peak_memory_bytes = Math.max(executor.peak_memory_bytes, sum(count(onHeap), count(offHeap)));
  }
}

function keyOf(ids: Fields): string {
  return `${count(ids['Stage ID'])}.${count(ids['Stage Attempt ID'])}`;
}

function isOpen(status: StageStatus): boolean {
  return status === 'PENDING' || status === 'ACTIVE';
}

function describe(stage: Stage, info: Fields): void {
  stage.name = text(info['Stage Name']);
  stage.planned_tasks = count(info['Number of Tasks']);
}

function workOf(metrics: Fields, info: Fields): Work {
  const read = fields(metrics['Shuffle Read Metrics']);
  return {
    tasks: 1,
    // A killed task, such as a speculative copy, has not failed.
    failed_tasks: info['Failed'] === true && info['Killed'] !== true ? 1 : 0,
    input_bytes: count(fields(metrics['Input Metrics'])['Bytes Read']),
    output_bytes: count(fields(metrics['Output Metrics'])['Bytes Written']),
    shuffle_read_bytes: sum(count(read['Remote Bytes Read']), count(read['Local Bytes Read'])),
    shuffle_write_bytes: count(fields(metrics['Shuffle Write Metrics'])['Shuffle Bytes Written']),
    spilled_bytes: count(metrics['Disk Bytes Spilled']),
    gc_ms: count(metrics['JVM GC Time']),
  };
}

function emptyWork(): Work {
  return {
    tasks: 0,
    failed_tasks: 0,
    input_bytes: 0,
    output_bytes: 0,
    shuffle_read_bytes: 0,
    shuffle_write_bytes: 0,
    spilled_bytes: 0,
    gc_ms: 0,
  };
}

/** Adds the counters that `target` has. */
function add(target: Partial<Work>, work: Work): void {
  for (const key of Object.keys(work) as (keyof Work)[]) {
    const before = target[key];
    if (before !== undefined) target[key] = sum(before, work[key]);
  }
}

function sum(a: number, b: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, a + b);
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

/** Returns 0 for a value that is not a positive integer. */
function count(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0;
}

/** Returns a copy if the text is cut: a slice of a string would keep the whole string in memory. */
function text(value: unknown): string {
  if (typeof value !== 'string') return '';
  const line = singleLine(value, MAX_NAME_LENGTH);
  return line === value ? value : Buffer.from(line).toString('utf8');
}
