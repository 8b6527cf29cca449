import { hostname } from 'node:os';
import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../../config/config';
import { messageOf } from '../../kernel/errors/message-of';
import { LOGGER, type Logger } from '../../kernel/logging/logger';
import { pause } from '../../kernel/process/pause';
import { hasLeases, requeueLeasesOf } from '../workflows/workflow-intents';
import { ThisWorker } from './this-worker';
import { WatchSession } from './watch-session';
import {
  clearSuspicion,
  reclaimWorker,
  type Grace,
  lockIfDead,
  findWatchedWorkers,
  registerWorker,
  removeWorker,
  suspect,
} from './workers.repository';

/** Leases that one transaction of a takeover releases. */
const BATCH = 100;
/** A worker that begins tries to register for so long, milliseconds: the machine may be busy. */
const REGISTER_MS = 30_000;
/** Pause before the next try of a session that was lost just now, milliseconds. */
const RECONNECT_MS = 100;

/**
 * Notices that a worker died by the end of its session, and releases its leases, so that other workers go on with its
 * workflows at once. Every process watches; a worker besides has a session by which the others see that it lives. See
 * ADR 0019.
 */
@Injectable()
export class WorkerWatch {
  private readonly stopping = new AbortController();
  private session: WatchSession | null = null;
  private running: Promise<void> = Promise.resolve();
  private takingOver: Promise<void> | null = null;
  /** Id of this process if it is a worker, also while that is in doubt. */
  private ownId: number | null = null;
  private isWorker = false;
  /** When the session was last known to exist, by the monotonic clock. */
  private heldAt = 0;
  /** What is wrong with it at the moment. */
  private problem: string | null = null;
  private isFenced = false;
  private fuse: NodeJS.Timeout | null = null;

  constructor(
    private readonly dataSource: DataSource,
    private readonly worker: ThisWorker,
    private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Registers this process as a worker and watches the others. Throws when that does not succeed in time. */
  async startAsWorker(): Promise<void> {
    this.isWorker = true;
    const deadline = performance.now() + REGISTER_MS;
    while (this.session === null) this.session = await this.tryToOpen(deadline);
    this.heldAt = performance.now();
    const { watchMs } = this.config.worker;
    this.fuse = setInterval(() => this.fenceIfLost(), watchMs / 2);
    this.start();
  }

  /** Watches the workers. */
  start(): void {
    this.running = this.repeat();
  }

  /** Ends the watch; call it when a worker has stopped working. What it still holds is left to the others. */
  async stop(): Promise<void> {
    this.stopping.abort();
    if (this.fuse) clearInterval(this.fuse);
    await this.running;
    await this.takingOver;
    if (this.ownId !== null) await this.leave(this.ownId);
    await this.session?.close();
  }

  /** Null when it failed and may be tried again. */
  private async tryToOpen(deadline: number): Promise<WatchSession | null> {
    try {
      return await this.open();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await pause(RECONNECT_MS, this.stopping.signal);
      return null;
    }
  }

  private async repeat(): Promise<void> {
    while (await pause(this.nextLookMs(), this.stopping.signal)) await this.look();
  }

  private nextLookMs(): number {
    const { watchMs, graceMs } = this.config.worker;
    const isUrgent = this.problem !== null && performance.now() - this.heldAt < graceMs;
    return isUrgent ? Math.min(RECONNECT_MS, watchMs) : watchMs;
  }

  private async look(): Promise<void> {
    // Taken before the question: the answer may be older than its arrival.
    const at = performance.now();
    try {
      const session = (this.session ??= await this.open());
      const grace = { ms: this.config.worker.graceMs, watchedSince: session.since };
      const found = await findWatchedWorkers(session, this.ownId, grace);
      const own = found.find(({ worker_id: id }) => id === this.ownId);
      if (this.ownId !== null && !own) throw new Error('This worker is no longer registered');
      if (own?.is_suspected) await clearSuspicion(session, own.worker_id);
      this.settle(at);
      const others = found.filter((worker) => worker !== own);
      const fresh = others.filter(({ is_suspected: isSuspected }) => !isSuspected);
      if (fresh.length > 0)
        await suspect(
          session,
          fresh.map(({ worker_id: id }) => id),
        );
      const dead = others.filter(({ is_dead: isDead }) => isDead).map(({ worker_id: id }) => id);
      // Beside the looks, which say whether this session exists: it may wait for locks.
      if (dead.length > 0) this.takingOver ??= this.takeOver(dead, grace).finally(() => (this.takingOver = null));
    } catch (error) {
      void this.session?.close();
      this.session = null;
      const problem = messageOf(error);
      if (this.problem === null) this.logger.warn({ reason: problem }, 'The session that watches workers was lost');
      this.problem = problem;
    }
  }

  private settle(at: number): void {
    this.heldAt = at;
    if (this.problem !== null) this.logger.info('Workers are watched again');
    this.problem = null;
    if (this.isFenced && this.ownId !== null) this.worker.become(this.ownId);
    this.isFenced = false;
  }

  /** A session in which this process, if it is a worker, is seen to live. */
  private async open(): Promise<WatchSession> {
    // An end of the session that does not reach this process takes PostgreSQL the time of its keepalive to notice, so
    // that a failure is known here before others may take over.
    const session = await WatchSession.open(this.config.database.url, this.config.worker.graceMs);
    try {
      if (this.isWorker) await this.appear(session);
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  private async appear(session: WatchSession): Promise<void> {
    if (this.ownId !== null) {
      const outcome = await reclaimWorker(session, this.ownId);
      if (outcome === 'back') return;
      // PostgreSQL may not know yet that the former session has ended.
      if (outcome === 'busy' && !this.isFenced) throw new Error('The lock of this worker is held by another session');
      this.logger.warn({ worker_id: this.ownId }, 'What this worker held is left to others');
      this.fence();
    }
    this.ownId = await registerWorker(session, { hostname: hostname(), pid: process.pid });
    this.worker.become(this.ownId);
    this.isFenced = false;
    this.logger.info({ worker_id: this.ownId }, 'Registered as a worker');
  }

  /** Others may take over one grace after the session was last known to exist, but no earlier. */
  private fenceIfLost(): void {
    if (this.problem === null || this.isFenced || performance.now() - this.heldAt < this.config.worker.graceMs) return;
    this.logger.warn({ worker_id: this.ownId }, 'Without a session for too long; leaving all work to others');
    this.fence();
  }

  private fence(): void {
    this.isFenced = true;
    this.worker.fence();
  }

  private async takeOver(workerIds: readonly number[], grace: Grace): Promise<void> {
    for (const id of workerIds) {
      try {
        while (!this.stopping.signal.aborted && (await this.takeOverBatch(id, grace)));
      } catch (error) {
        this.logger.warn(
          { err: error, worker_id: id },
          'The work of a dead worker could not be taken over; trying again',
        );
      }
    }
  }

  /** True when there is more to do at once. */
  private takeOverBatch(workerId: number, grace: Grace): Promise<boolean> {
    return this.dataSource.transaction(async (tx) => {
      if (!(await lockIfDead(tx, workerId, grace))) return false;
      const released = await requeueLeasesOf(tx, workerId, BATCH);
      if (released > 0) this.logger.warn({ worker_id: workerId, released }, 'Took over the work of a dead worker');
      if (released === BATCH) return true;
      if (!(await hasLeases(tx, workerId))) await removeWorker(tx, workerId);
      return false;
    });
  }

  /** A worker that has nothing left to take over is not looked for. */
  private async leave(ownId: number): Promise<void> {
    try {
      const { manager } = this.dataSource;
      if (!(await hasLeases(manager, ownId))) await removeWorker(manager, ownId);
    } catch (error) {
      this.logger.warn({ err: error }, 'The worker could not be taken from the list; others will do it');
    }
  }
}
