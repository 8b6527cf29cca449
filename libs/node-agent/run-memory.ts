import { stat, writeFile } from 'node:fs/promises';
import { MAX_UTILIZATION } from '../contracts/agent-protocol';
import { firstPids, procText } from './node-meter';
import { parseStat, type ProcessId, type ProcessStat } from './processes';

/** The processes of a run: the session of its driver with all descendants, and every other process of its user. */
export interface RunProcesses {
  leader: ProcessId;
  /** The user that only the run has; null if its processes have the agent's. */
  uid: number | null;
}

/** A run whose memory is measured while it has processes. */
export interface MeasurableRun {
  /** Null before its driver runs, and after it has ended. */
  readonly processes: RunProcesses | null;
  /** True if its driver waited for a run before: what it used until then is not the run's. */
  readonly hasWarmDriver: boolean;
  /** @param memoryMb memory that its processes had at their highest; MiB */
  observeMemory(memoryMb: number): void;
}

/** Time between two samples of a run, milliseconds. A quarter of its age, so that short runs are measured, too. */
const FIRST_INTERVAL_MS = 250;
const INTERVAL_MS = 15_000;
const INTERVALS_PER_AGE = 4;
/** Maximum interval on a machine with so many processes that measuring takes long. */
const MAX_INTERVAL_MS = 60_000;
/** Maximum share of one core that measuring may use, and while runs are young. */
const MAX_CPU_SHARE = 0.002;
const MAX_YOUNG_CPU_SHARE = 0.02;
/** Memory of a process is in the first part of its status. */
const STATUS_BYTES = 4096;
/** Sets the highest memory of a process to its present one, see proc(5). */
const RESET_HIGHEST = '5';

interface Schedule {
  since: number;
  dueAt: number;
  isYoung: boolean;
  isReset: boolean;
}

/** Measures the memory of the runs of a node, all of them in one pass over the processes of the machine. */
export class RunMemorySampler {
  private readonly schedules = new WeakMap<MeasurableRun, Schedule>();
  private isMeasuring = false;
  private isFailing = false;
  private measuredAt = -Infinity;
  /** Processor time of the agent during the last pass, milliseconds. */
  private spentMs = 0;

  /** @param failed called when measuring starts to fail */
  constructor(
    private readonly failed: (error: Error) => void,
    private readonly find: typeof processesOf = processesOf,
  ) {}

  /** Starts to measure if a run is due; a call takes no time. */
  tick(runs: Iterable<MeasurableRun>): void {
    if (this.isMeasuring) return;
    const now = performance.now();
    const running = [...runs].filter(({ processes }) => processes !== null);
    const due = running.map((run) => this.scheduleOf(run, now)).filter(({ dueAt }) => dueAt <= now);
    if (due.length === 0) return;
    const share = due.some(({ isYoung }) => isYoung) ? MAX_YOUNG_CPU_SHARE : MAX_CPU_SHARE;
    if (now < this.measuredAt + Math.min(MAX_INTERVAL_MS, this.spentMs / share)) return;
    this.isMeasuring = true;
    void this.measure(running);
  }

  private scheduleOf(run: MeasurableRun, now: number): Schedule {
    const known = this.schedules.get(run);
    if (known) return known;
    const schedule = { since: now, dueAt: now + FIRST_INTERVAL_MS, isYoung: true, isReset: false };
    this.schedules.set(run, schedule);
    return schedule;
  }

  private async measure(runs: readonly MeasurableRun[]): Promise<void> {
    const before = process.cpuUsage();
    try {
      const members = await this.find(runs);
      for (const [run, pids] of members) await this.observe(run, pids);
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing) this.failed(error as Error);
      this.isFailing = true;
    }
    const { user, system } = process.cpuUsage(before);
    this.spentMs = (user + system) / 1000;
    this.measuredAt = performance.now();
    for (const run of runs) this.reschedule(this.scheduleOf(run, this.measuredAt), this.measuredAt);
    this.isMeasuring = false;
  }

  private async observe(run: MeasurableRun, pids: readonly number[]): Promise<void> {
    const schedule = this.scheduleOf(run, performance.now());
    const resets = run.hasWarmDriver && !schedule.isReset;
    schedule.isReset = true;
    let kilobytes = 0;
    for (const pid of pids) {
      // A process can make itself unreachable for others of its user.
      if (resets) await writeFile(`/proc/${pid}/clear_refs`, RESET_HIGHEST).catch(() => undefined);
      kilobytes += highestMemory((await procText(`/proc/${pid}/status`, STATUS_BYTES)) ?? '');
    }
    if (kilobytes > 0) run.observeMemory(Math.min(MAX_UTILIZATION, Math.ceil(kilobytes / 1024)));
  }

  private reschedule(schedule: Schedule, now: number): void {
    const interval = (now - schedule.since) / INTERVALS_PER_AGE;
    schedule.isYoung = interval < INTERVAL_MS;
    schedule.dueAt = now + Math.min(INTERVAL_MS, Math.max(FIRST_INTERVAL_MS, interval));
  }
}

/** Returns the highest memory of a process from its `/proc/<pid>/status`, KiB; 0 for one that has ended. */
export function highestMemory(status: string): number {
  // In the name of a process, the kernel escapes line feeds and no other line breaks.
  return Number(/\nVmHWM:\s+(\d{1,15}) kB\n/.exec(status)?.[1] ?? 0);
}

/** Returns the ids of the live processes of each run. */
async function processesOf(runs: readonly MeasurableRun[]): Promise<Map<MeasurableRun, number[]>> {
  const found = new Map<number, ProcessStat>();
  for (const pid of await firstPids()) {
    const text = await procText(`/proc/${pid}/stat`);
    if (text !== null) found.set(pid, parseStat(text));
  }
  const leaders = new Map<number, MeasurableRun>();
  const users = new Map<number, MeasurableRun>();
  for (const run of runs) {
    const { processes } = run;
    // A reused pid leads another session.
    if (processes && found.get(processes.leader.pid)?.startTime === processes.leader.startTime)
      leaders.set(processes.leader.pid, run);
    if (processes?.uid != null) users.set(processes.uid, run);
  }
  const members = new Map<MeasurableRun, number[]>(runs.map((run) => [run, []]));
  const known = new Map<number, MeasurableRun | null>();
  for (const pid of found.keys()) {
    const run = runOf(pid, found, leaders, known) ?? (users.size > 0 ? users.get(await userOf(pid)) : undefined);
    if (run) members.get(run)?.push(pid);
  }
  return members;
}

/** Returns the run in whose session a process or one of its ancestors is, and remembers it for all of them in `known`. */
function runOf(
  pid: number,
  found: ReadonlyMap<number, ProcessStat>,
  leaders: ReadonlyMap<number, MeasurableRun>,
  known: Map<number, MeasurableRun | null>,
): MeasurableRun | null {
  const visited: number[] = [];
  let run: MeasurableRun | null = null;
  for (let at = pid; run === null && found.has(at) && !known.has(at); at = found.get(at)?.parent ?? 0) {
    // A loop of reused ids ends here, because each is known from now on.
    known.set(at, null);
    visited.push(at);
    run = leaders.get(found.get(at)?.session ?? 0) ?? known.get(found.get(at)?.parent ?? 0) ?? null;
  }
  for (const one of visited) known.set(one, run);
  return run ?? known.get(pid) ?? null;
}

/** Returns the effective user of a process; -1 if it has ended. */
async function userOf(pid: number): Promise<number> {
  return stat(`/proc/${pid}`).then(
    ({ uid }) => uid,
    () => -1,
  );
}
