import { execFileSync, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import type { DesiredWarmDrivers, RunSpec } from '../contracts/agent-protocol';
import type { SparkRuntime } from '../spark/submit-command';
import { coldReason, isSameKey, type WarmKey, warmDriverCommand, warmKeyOf } from '../spark/warm-driver';
import {
  CHANNEL_FILES,
  DRIVER_FOLDERS,
  driverPaths,
  startDriver,
  startedProcess,
  writeGenerated,
} from './driver-process';
import { readJson, removeTrees, writeJson } from './files';
import { availableMemoryMb, pressureOf } from './machine-load';
import type { NodeLog } from './node-log';
import { killAll, sessionProcesses, type NodeOwner, type ProcessId } from './processes';
import { folderMode, type Sandbox } from './sandbox';
import type { Sandboxes } from './sandboxes';
import { Backoff } from './waiting';
import { planPool, type PoolPlan, remembered, withoutFailed } from './warm-demand';

/** The parts of the agent that the pool needs. */
export interface WarmDriversContext {
  owner: NodeOwner;
  runtime: SparkRuntime;
  sandboxes: Sandboxes;
  /** Returns the node's environment for every run. */
  env: () => Record<string, string>;
  /** Returns true while the node accepts runs. */
  takesRuns: () => boolean;
  /** Returns the number of runs that have a slot of the node. */
  activeRuns: () => number;
  log: NodeLog;
}

/** A driver that waits for a run. Its folder and its sandbox become those of the run. */
export interface WarmDriver {
  /** The run's folder. */
  dir: string;
  sandboxIndex: number;
  child: ChildProcess;
  process: ProcessId;
}

/** Says in one sentence why a driver has to be started for a run. */
export interface ColdReason {
  coldReason: string;
}

interface PooledDriver {
  key: WarmKey;
  /** The node's environment that it was started with, as JSON. */
  env: string;
  dir: string;
  sandboxIndex: number;
  sandbox: Sandbox;
  child: ChildProcess;
  /** File that exists once it waits for a run. */
  ready: string;
  startedAt: number;
  isReady: boolean;
}

/** A driver that is not ready by then is ended. A busy machine needs many times the usual five seconds. */
const START_TIMEOUT_MS = 3 * 60_000;
/** Pause after drivers were ended because memory was short, and the longest first one after a driver that failed. */
const RETRY_MS = 60_000;
/** Pause between two drivers that are given up for other keys, because runs could ask for another key each time. */
const EXCHANGE_MS = 60_000;
/** Each attempt costs some seconds of a core, so those that keep failing become rare. */
const MAX_RETRY_MS = 30 * 60_000;
/** A run that has just started needs the processor more than the next driver does. */
const REFILL_DELAY_MS = 5_000;
const CHECK_INTERVAL_MS = 500;
/** A run that waits for a slot of the node has it within this time. */
const NEXT_RUN_MS = 5_000;
/** Pressure below which a driver that starts does not delay others; percent. */
const IDLE_PRESSURE = 20;
/** Memory of a driver that waits, with its Python; MiB. */
const WAITING_MB = 400;
/** Memory that a driver must leave to others when it starts; MiB. */
const SPARE_MB = 1024;
/** Below this, warm drivers end; MiB. */
const SHORT_MEMORY_MB = 512;
/** Percentage of time in which something waits for memory, above which warm drivers end. */
const MAX_MEMORY_PRESSURE = 5;
const LOWEST_PRIORITY = 19;
/** Pressure that is never exceeded; percent. */
const ALWAYS = 100;
/** The agent's files of a warm driver that its sandbox can read. */
const PIPE = 'handover';
const ASSIGNMENT = 'assignment';
const INDEX_FILE = 'warm.json';
const NOT_STARTED = 'A driver that should wait for runs could not be started';

/**
 * Keeps drivers that have started and wait for a run (ADR 0066). Each has a sandbox and a folder of its own, has seen no run, and takes
 * one. They are started while the machine is idle and ended as soon as it needs their memory.
 */
export class WarmDrivers {
  private desired: DesiredWarmDrivers | null = null;
  private drivers: PooledDriver[] = [];
  /** Keys of the last runs, the newest first. */
  private recent: WarmKey[] = [];
  private notBefore = 0;
  /** Last time at which all slots of the node were taken. */
  private fullAt = -Infinity;
  private exchangeNotBefore = 0;
  private checkedAt = 0;
  private isStopped = false;
  private readonly backoff = new Backoff(RETRY_MS, MAX_RETRY_MS);
  private readonly ending = new Set<Promise<void>>();
  private readonly folder: string;

  constructor(private readonly context: WarmDriversContext) {
    this.folder = `${context.owner.nodeDir}/warm`;
  }

  /** Number of drivers that wait for a run. */
  get readyCount(): number {
    return this.drivers.filter(({ isReady }) => isReady).length;
  }

  /** Ends what an earlier agent left in the pool: it does not know how far those drivers have come. Those of runs are kept. */
  async restore(): Promise<void> {
    const { owner, sandboxes } = this.context;
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    chmodSync(this.folder, folderMode(sandboxes.confinement));
    const runs = `${owner.nodeDir}/runs`;
    const taken = new Set(readdirSync(runs).map((name) => realpathSync(`${runs}/${name}`)));
    for (const name of readdirSync(this.folder)) {
      const dir = `${this.folder}/${name}`;
      if (taken.has(realpathSync(dir))) continue;
      const index = readJson<{ sandbox: number }>(`${dir}/${INDEX_FILE}`)?.sandbox;
      await this.remove(dir, index === undefined ? null : sandboxes.sandbox(dir, index));
    }
  }

  /** Sets how many drivers the control plane wants; null for none. */
  apply(desired: DesiredWarmDrivers | null): void {
    this.desired = desired;
  }

  /** Does the periodic work: starts what is missing, ends what is not wanted. */
  tick(): void {
    const now = performance.now();
    if (this.isStopped || now - this.checkedAt < CHECK_INTERVAL_MS) return;
    this.checkedAt = now;
    const count = this.context.takesRuns() ? (this.desired?.count ?? 0) : 0;
    if (count === 0 && this.drivers.length === 0) return;
    if (this.context.activeRuns() >= (this.desired?.slots ?? Infinity)) this.fullAt = now;
    this.check(now);
    const env = JSON.stringify(this.context.env());
    this.keep((driver) => driver.env === env);
    const plan = this.plan(count, now);
    this.giveUp(plan, now);
    if (plan.start) this.start(plan.start, env);
  }

  private plan(count: number, now: number): PoolPlan<PooledDriver> {
    const facts = {
      drivers: this.drivers,
      count,
      recent: this.recent,
      first: { driverMemory: this.desired?.driver_memory ?? null, classPath: null },
      isMemoryShort: this.drivers.length > 0 && isMemoryShort(),
      mayStart: now >= this.notBefore,
      mayExchange: now >= this.exchangeNotBefore,
    };
    const plan = planPool(facts);
    // The load of the machine is read only for a change that depends on it.
    return (plan.start ?? plan.exchanged) && !this.hasRoom() ? planPool({ ...facts, mayStart: false }) : plan;
  }

  private giveUp({ surplus, reclaimed, exchanged }: PoolPlan<PooledDriver>, now: number): void {
    if (reclaimed) {
      this.context.log.info('Memory is short, so a driver that waits for runs ends');
      this.notBefore = now + RETRY_MS;
    }
    if (exchanged) {
      this.context.log.info('A driver that waits for runs ends, because the last runs need others');
      this.exchangeNotBefore = now + EXCHANGE_MS;
    }
    const ended = new Set([...surplus, reclaimed, exchanged]);
    this.keep((driver) => !ended.has(driver));
  }

  /** True if the control plane knows of warm drivers. */
  get isKnown(): boolean {
    return this.desired !== null;
  }

  /** Takes a driver for a run out of the pool, or says why the run needs another. */
  take(spec: RunSpec): WarmDriver | ColdReason {
    if (!this.desired || this.desired.count === 0) return { coldReason: 'The cluster keeps no drivers ready.' };
    const reason = coldReason(spec);
    if (reason !== null) return { coldReason: reason };
    const { runtime, env } = this.context;
    const key = warmKeyOf(spec, { runtime, nodeEnv: env() });
    // Jobs repeat, so the next runs are probably like the last ones.
    this.recent = remembered(this.recent, key);
    this.notBefore = Math.max(this.notBefore, performance.now() + REFILL_DELAY_MS);
    if (this.drivers.length === 0) return { coldReason: 'No driver was ready.' };
    const alike = this.drivers.filter((one) => isSameKey(one.key, key) && one.env === JSON.stringify(env()));
    if (alike.length === 0) return { coldReason: 'The drivers that were ready have another heap or other libraries.' };
    const found = alike.find((driver) => driver.isReady && !hasEnded(driver));
    const process = found ? startedProcess(found.dir) : null;
    if (!found || !process) return { coldReason: 'No driver was ready yet.' };
    this.drivers = this.drivers.filter((driver) => driver !== found);
    const { dir, sandboxIndex, child } = found;
    if (this.waitsForIdleness) raisePriority(process.pid);
    return { dir, sandboxIndex, child, process };
  }

  /** Ends a driver that {@link take} returned, if no run has become of it. */
  discardTaken({ dir, sandboxIndex }: Pick<WarmDriver, 'dir' | 'sandboxIndex'>): void {
    this.track(this.discard(dir, sandboxIndex));
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.keep(() => false);
    await Promise.all(this.ending);
  }

  /** False if drivers are started whatever else the machine does. With the lowest priority they would never be ready then. */
  private get waitsForIdleness(): boolean {
    return (this.desired?.max_cpu_pressure ?? 0) < ALWAYS;
  }

  /** Notices drivers that are ready, and ends those that have failed. */
  private check(now: number): void {
    this.keep((driver) => {
      const problem = problemOf(driver, now);
      if (problem === null) return true;
      const title = driver.isReady ? 'A driver that waited for runs has ended' : NOT_STARTED;
      this.context.log.warn(title, { error: problem });
      this.notBefore = now + this.backoff.next();
      if (!driver.isReady) this.recent = withoutFailed(this.recent, driver.key);
      return false;
    });
    for (const driver of this.drivers) {
      if (driver.isReady || !existsSync(driver.ready)) continue;
      // The output of the rehearsal is not that of a run. The driver is silent from here on.
      for (const stream of ['stdout', 'stderr']) truncateSync(`${driver.dir}/${stream}`);
      driver.isReady = true;
      this.backoff.reset();
      this.context.log.info('A driver waits for runs', { seconds: Math.round((now - driver.startedAt) / 1000) });
    }
  }

  /** The heap of a driver is taken by its run, which would need it anyway. */
  private hasRoom(): boolean {
    const { max_cpu_pressure: max = 0 } = this.desired ?? {};
    // A driver that starts on a busy processor delays the runs that wait for a slot more than it speeds them up.
    const mayRunsWait = performance.now() - this.fullAt < NEXT_RUN_MS;
    const maxPressure = mayRunsWait ? Math.min(max, IDLE_PRESSURE) : max;
    return pressureOf('cpu') <= maxPressure && availableMemoryMb() > WAITING_MB + SPARE_MB;
  }

  private start(key: WarmKey, env: string): void {
    const { runtime, sandboxes, log } = this.context;
    if (runtime.connectors === null || !existsSync(`${runtime.connectors}/warm-driver.jar`)) return;
    const dir = `${this.folder}/${randomUUID()}`;
    let sandboxIndex: number | null = null;
    try {
      sandboxIndex = sandboxes.allocate();
      this.drivers.push(this.startIn(dir, sandboxIndex, key, env));
    } catch (error) {
      log.warn(NOT_STARTED, { error: (error as Error).message });
      this.notBefore = performance.now() + this.backoff.next();
      const index = sandboxIndex;
      if (index !== null) this.track(this.discard(dir, index));
    }
  }

  private startIn(dir: string, sandboxIndex: number, key: WarmKey, env: string): PooledDriver {
    const { runtime, sandboxes } = this.context;
    const sandbox = sandboxes.sandbox(dir, sandboxIndex);
    sandbox.create(DRIVER_FOLDERS);
    writeJson(`${dir}/${INDEX_FILE}`, { sandbox: sandboxIndex });
    const command = warmDriverCommand(key, {
      runtime,
      paths: driverPaths(sandbox.box),
      nodeEnv: this.context.env(),
      handover: { pipe: `${dir}/${PIPE}`, assignment: `${dir}/${ASSIGNMENT}` },
    });
    for (const file of command.files) writeGenerated(file);
    execFileSync('mkfifo', ['-m', '600', `${dir}/${PIPE}`, ...command.pipes], { timeout: 5_000 });
    const streams = ['stdin', 'stdout', 'stderr', ...CHANNEL_FILES];
    for (const name of [...streams, ASSIGNMENT]) writeFileSync(`${dir}/${name}`, '', { mode: 0o600 });
    sandbox.chownBox();
    sandbox.chown(...streams, ASSIGNMENT, PIPE);
    const argv = sandbox.launch('warm', command.argv, command.env, 'work', [PIPE, ASSIGNMENT]);
    const child = startDriver(dir, sandbox, argv, true);
    // Without a listener, a failed start would end the agent.
    child.once('error', () => undefined);
    if (child.pid !== undefined && this.waitsForIdleness) lowerPriority(child.pid);
    const startedAt = performance.now();
    return { key, env, dir, sandboxIndex, sandbox, child, ready: command.ready, startedAt, isReady: false };
  }

  /** Ends all drivers for which `isKept` returns false. Each ends once, because another run may then have its sandbox. */
  private keep(isKept: (driver: PooledDriver) => boolean): void {
    const before = this.drivers;
    this.drivers = before.filter(isKept);
    const kept = new Set(this.drivers);
    for (const driver of before) if (!kept.has(driver)) this.discardTaken(driver);
  }

  private async discard(dir: string, sandboxIndex: number): Promise<void> {
    const { sandboxes } = this.context;
    await this.remove(dir, sandboxes.sandbox(dir, sandboxIndex));
    sandboxes.release(sandboxIndex);
  }

  /** Ends a driver and removes its files. What cannot be removed is left to the next agent. */
  private async remove(dir: string, sandbox: Sandbox | null): Promise<void> {
    const { owner, log } = this.context;
    try {
      await endProcessesIn(dir, sandbox, owner);
      await removeTrees([dir]);
    } catch (error) {
      log.warn('The files of a driver that waited for runs could not be removed', { error: (error as Error).message });
    }
  }

  private track(work: Promise<void>): void {
    this.ending.add(work);
    void work.finally(() => this.ending.delete(work));
  }
}

/**
 * Lets a warm driver become its run. Its assignment must be in place.
 * @returns false if the driver does not wait: it has taken the assignment before, or it has ended
 */
export function handOver(dir: string): boolean {
  let pipe: number;
  try {
    pipe = openSync(`${dir}/${PIPE}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    // Nobody reads.
    if ((error as NodeJS.ErrnoException).code === 'ENXIO') return false;
    throw error;
  }
  try {
    writeSync(pipe, '\n');
    return true;
  } finally {
    closeSync(pipe);
  }
}

/** Writes what {@link handOver} hands over. */
export function writeAssignment(dir: string, text: string): void {
  // The sandbox sees this very file, so it cannot be replaced by another.
  writeFileSync(`${dir}/${ASSIGNMENT}`, text, { flag: 'r+' });
}

/** Names of files of a warm driver that hold the secrets of its run. */
export const ASSIGNMENT_FILES = [ASSIGNMENT, 'env-warm'];

function hasEnded({ child }: PooledDriver): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Returns what is wrong with a driver; null if it waits, or may still come to that. */
function problemOf(driver: PooledDriver, now: number): string | null {
  const { child, isReady, startedAt } = driver;
  if (hasEnded(driver)) return `It ended with ${child.exitCode ?? child.signalCode}`;
  return !isReady && now - startedAt > START_TIMEOUT_MS ? 'It took too long' : null;
}

function isMemoryShort(): boolean {
  return availableMemoryMb() < SHORT_MEMORY_MB || pressureOf('memory') > MAX_MEMORY_PRESSURE;
}

/** Kills the driver that was started in a folder, and all that it has started. */
export async function endProcessesIn(dir: string, sandbox: Sandbox | null, owner: NodeOwner): Promise<void> {
  const leader = startedProcess(dir);
  if (leader) await killAll(leader, owner);
  await sandbox?.clear();
}

/** Only root can raise a priority again. */
const canRaisePriority = process.getuid?.() === 0;

function lowerPriority(leader: number): void {
  if (canRaisePriority) setNice(leader, LOWEST_PRIORITY);
}

function raisePriority(leader: number): void {
  if (!canRaisePriority) return;
  for (const { pid } of sessionProcesses(new Set([leader]))) setNice(pid, getPriority());
}

/** Sets the priority of all threads of a process, and that of its session among others where the kernel groups them. */
function setNice(pid: number, nice: number): void {
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), nice);
    writeFileSync(`/proc/${pid}/autogroup`, String(nice));
  } catch {
    // The process has ended, or the kernel groups no sessions.
  }
}
