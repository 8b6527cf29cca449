import { ManagedSparkError, Unreachable } from './errors.ts';
import { RunFailed } from './failures.ts';
import {
  getJob,
  getJobLog,
  getJobMetrics,
  getJobStatus,
  getRunCost,
  killJob,
  searchJobLog,
} from './generated/operations.ts';
import type {
  JobLog,
  JobMetrics,
  JobRead,
  JobStatus,
  JobStatusHistory,
  LogMatchRead,
  RunCost,
} from './generated/types.ts';
import { Lines } from './lines.ts';
import type { Place } from './place.ts';
import { backoffMs, Deadline, Pauses, sleep, type WaitOptions } from './waiting.ts';

const FINISHED: ReadonlySet<JobStatus> = new Set<JobStatus>(['DONE', 'ERROR', 'TERMINATED', 'STOPPED', 'KILLED']);
const DAY_MS = 24 * 3_600_000;
const START_MS = 1_800_000;

/** A stream without data for this time is reopened: its connection may be dead, or the job prints nothing. */
const SILENCE_MS = 60_000;
/** Number of times in a row that a stream is reopened without receiving a byte. */
const MAX_REOPENS = 10;
/** Size of the part of a log that is read at once. */
const MAX_LOG_BYTES = 16 << 20;

export interface FollowOptions extends WaitOptions {
  /** Byte offset in the log to start from. */
  offset?: number;
}

/** True if this status is final. */
export function isFinished(status: JobStatus): boolean {
  return FINISHED.has(status);
}

/** One run of a job. */
export class Run {
  readonly #place: Place;
  readonly id: number;

  constructor(place: Place, id: number) {
    this.#place = place;
    this.id = id;
  }

  /** Returns the URL of the run in the API; its log is at `/log/stdout` below it. */
  async url(): Promise<string> {
    const { workspace_id, job_id } = await this.#path();
    const path = getJob.path.replace('{workspace_id}', String(workspace_id)).replace('{job_id}', String(job_id));
    return this.#transport.url + path;
  }

  async details(options: { signal?: AbortSignal | undefined } = {}): Promise<JobRead> {
    return this.#transport.call(getJob, { path: await this.#path(), signal: options.signal });
  }

  async status(): Promise<JobStatus> {
    const { job_status } = await this.details();
    return job_status;
  }

  async history(): Promise<JobStatusHistory> {
    return this.#transport.call(getJobStatus, { path: await this.#path() });
  }

  /** Returns the metrics of the Spark application so far: totals, stages and executors. */
  async metrics(): Promise<JobMetrics> {
    return this.#transport.call(getJobMetrics, { path: await this.#path() });
  }

  /** Returns the cost of the run: its share of the time of its nodes, until now or its end. `amount` is null without a price. */
  async cost(): Promise<RunCost> {
    return this.#transport.call(getRunCost, { path: { workspace_id: await this.#place.id(), run_id: this.id } });
  }

  /** Requests the end of the run; `wait` returns once it has ended. */
  async kill(): Promise<void> {
    await this.#transport.call(killJob, { path: await this.#path() });
  }

  /** Waits until the run has ended, and returns it whatever its status. */
  wait(options: WaitOptions = {}): Promise<JobRead> {
    return this.#reached(isFinished, options);
  }

  /** Waits until the run is RUNNING. @throws RunFailed if it ends before that */
  async waitUntilRunning(options: WaitOptions = {}): Promise<JobRead> {
    const isBegun = (status: JobStatus) => status === 'RUNNING' || isFinished(status);
    const job = await this.#reached(isBegun, { ...options, timeoutMs: options.timeoutMs ?? START_MS });
    if (isFinished(job.job_status)) throw await this.#failure(job);
    return job;
  }

  /** Waits until the run is DONE, and returns it. @throws RunFailed if it ends in another status */
  async result(options: WaitOptions = {}): Promise<JobRead> {
    const job = await this.wait(options);
    if (job.job_status !== 'DONE') throw await this.#failure(job);
    return job;
  }

  /** Returns a log: its first 16 MiB, or its `last` lines. */
  async log(name: JobLog = 'stdout', options: { last?: number } = {}): Promise<string> {
    const query = options.last === undefined ? { file_size_bytes: MAX_LOG_BYTES } : { last_n_lines: options.last };
    return this.#transport.call(getJobLog, { path: { ...(await this.#path()), log_type: name }, query });
  }

  /** Yields the lines of a log that contain the text, ignoring case, each with its byte offset. */
  async *searchLog(
    text: string,
    name: JobLog = 'stdout',
    options: { backward?: boolean; signal?: AbortSignal } = {},
  ): AsyncGenerator<LogMatchRead> {
    const path = { ...(await this.#path()), log_type: name };
    const direction = options.backward ? 'backward' : 'forward';
    for (let offset: number | null | undefined; offset !== null;) {
      const query = { text, direction, ...(offset === undefined ? {} : { offset }) } as const;
      const { matches, next_offset: next } = await this.#transport.call(searchJobLog, {
        path,
        query,
        signal: options.signal,
      });
      yield* matches;
      // A server that repeats offsets must not keep the client in an endless loop.
      const isRepeated = offset !== undefined && next !== null && (options.backward ? next >= offset : next <= offset);
      offset = isRepeated ? null : next;
    }
  }

  /** Yields the lines of a log until the run has ended. A broken connection resumes at the byte where it broke. */
  async *follow(name: JobLog = 'stdout', options: FollowOptions = {}): AsyncGenerator<string> {
    const lines = new Lines();
    for await (const piece of this.stream(name, options)) yield* lines.feed(piece);
    yield* lines.end();
  }

  /** Yields the bytes of a log, as `follow` yields its lines. */
  async *stream(name: JobLog = 'stdout', options: FollowOptions = {}): AsyncGenerator<Uint8Array> {
    const { timeoutMs = DAY_MS, signal } = options;
    const deadline = new Deadline(timeoutMs, `Job ${this.id}`);
    const path = { ...(await this.#path()), log_type: name };
    let { offset = 0 } = options;
    for (let failures = 0; ;) {
      deadline.check();
      const silence = new Silence(Math.min(SILENCE_MS, deadline.leftMs), signal);
      try {
        const query = { follow: true, offset };
        const response = await this.#transport.send(getJobLog, { path, query, signal: silence.signal });
        offset = Number(response.headers.get('x-log-offset') ?? offset);
        for await (const piece of silence.watch(response)) {
          offset += piece.length;
          failures = 0;
          yield piece;
          deadline.check();
        }
      } catch (error) {
        if (signal?.aborted || error instanceof ManagedSparkError) throw error;
        if (silence.signal.aborted) continue;
        failures += 1;
        const what = `The log of job ${this.id} broke off ${failures} times: ${String(error)}`;
        if (failures > MAX_REOPENS) throw new Unreachable(what, { cause: error });
        await sleep(backoffMs(failures), signal);
        continue;
      }
      // A server that shuts down also ends its streams.
      if (isFinished(await this.status())) return;
      await sleep(backoffMs(0), signal);
    }
  }

  get #transport() {
    return this.#place.context.transport;
  }

  async #path() {
    return { workspace_id: await this.#place.id(), job_id: this.id };
  }

  async #reached(isReached: (status: JobStatus) => boolean, options: WaitOptions): Promise<JobRead> {
    const { timeoutMs = DAY_MS, signal } = options;
    const pauses = new Pauses(new Deadline(timeoutMs, `Job ${this.id}`), options);
    for (;;) {
      const job = await this.details({ signal });
      if (isReached(job.job_status)) return job;
      await pauses.next(job.job_status);
    }
  }

  async #failure({ job_status: status, reason_code: code, reason }: JobRead): Promise<RunFailed> {
    const logUrl = `${await this.url()}/log/${status === 'ERROR' ? 'stderr' : 'stdout'}`;
    return new RunFailed({ kind: 'Job', id: this.id, status, code, reason, logUrl });
  }
}

/** Aborts a response that is silent for some time, or that the caller no longer wants. */
class Silence {
  readonly signal: AbortSignal;
  readonly #silent = new AbortController();
  readonly #limitMs: number;

  constructor(limitMs: number, signal: AbortSignal | undefined) {
    this.#limitMs = limitMs;
    this.signal = signal ? AbortSignal.any([signal, this.#silent.signal]) : this.#silent.signal;
  }

  /** Yields the pieces of a body. The time that the caller takes to process one does not count as silence. */
  async *watch(response: Response): AsyncGenerator<Uint8Array> {
    const reader = response.body?.getReader();
    if (!reader) return;
    try {
      for (;;) {
        const timer = setTimeout(() => this.#silent.abort(), this.#limitMs);
        const { done, value } = await reader.read().finally(() => clearTimeout(timer));
        if (done) return;
        yield value;
      }
    } finally {
      // A body that is not read to its end keeps its connection.
      await reader.cancel().catch(() => {});
    }
  }
}
