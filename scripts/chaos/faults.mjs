import { setTimeout as delay } from 'node:timers/promises';
import { isRunning } from '../embedded/processes.mjs';
import { kill, OBSERVER } from './platform-under-chaos.mjs';
import { describeFault } from './schedule.mjs';

const CLOCK_SHIFT_MS = 60_000;

/**
 * @typedef {import('./platform-under-chaos.mjs').PlatformUnderChaos} PlatformUnderChaos
 * @typedef {import('./schedule.mjs').Fault} Fault
 * @typedef {import('./schedule.mjs').FaultKind} FaultKind
 */

/** Injects the faults of a schedule, and undoes the lasting ones. */
export class Faults {
  /** @type {Promise<void>[]} */
  #inProgress = [];

  /** @param {PlatformUnderChaos} platform */
  constructor(platform) {
    this.platform = platform;
  }

  /** Returns when the last fault is over. @param {readonly Fault[]} schedule */
  async run(schedule) {
    const { print, signal } = this.platform;
    const started = performance.now();
    for (const fault of schedule) {
      await delay(Math.max(0, fault.atMs - (performance.now() - started)), undefined, { signal });
      print(describeFault(fault));
      this.#inProgress.push(
        this.#run(fault).catch((error) => {
          if (!signal.aborted) print(`${fault.kind} failed: ${/** @type {Error} */ (error).message}`);
        }),
      );
    }
    await Promise.all(this.#inProgress);
  }

  /** @param {Fault} fault */
  async #run({ kind, target, forMs }) {
    await this.#actions[kind](target, forMs);
  }

  /** The actions of the kinds of faults. @type {Record<FaultKind, (target: number, forMs: number) => unknown>} */
  #actions = {
    'kill-api': (target) => kill(chosen(this.platform.apis, target).pid, 'SIGKILL'),
    'kill-worker': (target) => kill(chosen(this.platform.workers, target).pid, 'SIGKILL'),
    'kill-agent': (target) => this.#killAgent(target),
    'kill-redis': (_target, ms) => this.platform.restartRedis(ms, true),
    'restart-redis': (_target, ms) => this.platform.restartRedis(ms, false),
    'flush-redis': () => this.#flushRedis(),
    'terminate-backend': (target) => this.#terminateBackend(target),
    'restart-postgres': (_target, ms) => this.platform.restartPostgres(ms, false),
    'crash-postgres': (_target, ms) => this.platform.restartPostgres(ms, true),
    'freeze-api': (target, ms) => this.#freeze(chosen(this.platform.apis, target).ref, ms),
    'freeze-worker': (target, ms) => this.#freeze(chosen(this.platform.workers, target).ref, ms),
    'cut-answers': (_target, ms) => this.platform.proxy?.cutAnswers(ms),
    'fill-data-disk': (_target, ms) => this.#fill(this.platform.dataDisk, ms),
    'fill-node-disk': (_target, ms) => this.#fill(this.platform.nodeDisk, ms),
    'shift-clock': (target, ms) => this.#shiftClock(target, ms),
  };

  /** @param {number} target */
  async #killAgent(target) {
    const agents = (await this.platform.nodeProcesses()).filter(({ role }) => role === 'agent');
    if (agents.length > 0) kill(chosen(agents, target).pid, 'SIGKILL');
  }

  /** @param {number} target @param {number} ms */
  async #shiftClock(target, ms) {
    const { apis, workers } = this.platform;
    const places = [...apis, ...workers].flatMap((child) => [
      { child, shiftMs: CLOCK_SHIFT_MS },
      { child, shiftMs: -CLOCK_SHIFT_MS },
    ]);
    const { child, shiftMs } = chosen(places, target);
    this.platform.restartWithClock(child, shiftMs);
    await this.#undoAfter(ms, () => this.platform.restartWithClock(child, 0));
  }

  async #flushRedis() {
    const { Redis } = await import('ioredis');
    const redis = new Redis(this.platform.redis?.url ?? '', { maxRetriesPerRequest: 1, retryStrategy: () => null });
    redis.on('error', () => {});
    try {
      await redis.flushall();
    } finally {
      redis.disconnect();
    }
  }

  /** @param {number} target */
  async #terminateBackend(target) {
    const backends = await this.platform.sql(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
         AND application_name <> $1 ORDER BY backend_start, pid`,
      [OBSERVER],
    );
    if (backends.length === 0) return;
    await this.platform.sql('SELECT pg_terminate_backend($1)', [chosen(backends, target).pid]);
  }

  /** @param {import('../embedded/processes.mjs').ProcessRef | null} ref @param {number} ms */
  async #freeze(ref, ms) {
    if (!isRunning(ref)) return;
    kill(ref.pid, 'SIGSTOP');
    // The process may have been killed meanwhile, and another one may have its pid.
    await this.#undoAfter(ms, () => isRunning(ref) && kill(ref.pid, 'SIGCONT'));
  }

  /** @param {import('./small-disk.mjs').SmallDisk | undefined} disk @param {number} ms */
  async #fill(disk, ms) {
    disk?.fill();
    await this.#undoAfter(ms, () => disk?.empty());
  }

  /** Undoes a lasting fault after its time, and also if the run is interrupted. @param {number} ms @param {() => unknown} undo */
  async #undoAfter(ms, undo) {
    try {
      await delay(ms, undefined, { signal: this.platform.signal });
    } finally {
      undo();
    }
  }
}

/** @template T @param {readonly T[]} list that is not empty @param {number} target from 0 to below 1 @returns {T} */
function chosen(list, target) {
  return /** @type {T} */ (list[Math.floor(target * list.length)]);
}
