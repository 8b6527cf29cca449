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
  look,
  registerWorker,
  removeWorker,
  suspect,
} from './workers.repository';
import { inTransaction } from '../../kernel/persistence/sql';

/** Number of leases that one transaction of a takeover releases. */
const BATCH_SIZE = 100;
/** A starting worker tries to register for this time, because the machine may be busy; milliseconds. */
const REGISTER_TIMEOUT_MS = 30_000;
/**
 * A process that need not look often does so once in this many grace periods. A worker that misses a leader looks often, so the
 * other processes need not be quick to lead.
 */
const GRACES_BETWEEN_LOOKS = { worker: 2, other: 10 };
/** Pause between attempts to open a session, milliseconds. */
const RECONNECT_MS = 100;

/**
 * Detects that a worker died by the end of its session, and releases its leases, so that other workers continue its
 * workflows at once. One process looks often, and every other one rarely, in case that one fails. A worker also has a session by
 * which others see that it lives. See ADR 0019.
 */
@Injectable()
export class WorkerWatch {
  private readonly stopping = new AbortController();
  private session: WatchSession | null = null;
  private running: Promise<void> = Promise.resolve();
  private takingOver: Promise<void> | null = null;
  /** Id of this process if it is a worker, even while it has no session. */
  private ownId: number | null = null;
  private isWorker = false;
  /** Time at which the session was last known to exist, by the monotonic clock. */
  private heldAt = 0;
  /** Reason why the session is lost; null if it exists. */
  private problem: string | null = null;
  private isFenced = false;
  /** Time at which the session was opened, by the monotonic clock. */
  private openedAt = 0;
  /** Time of the last look over the session, by the monotonic clock; null before the first one. */
  private lookedAt: number | null = null;
  private leads = false;
  private looksOften = true;
  private fuse: NodeJS.Timeout | null = null;

  constructor(
    private readonly dataSource: DataSource,
    private readonly worker: ThisWorker,
    private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Registers this process as a worker and watches the others. Throws if it cannot register in time. */
  async startAsWorker(): Promise<void> {
    this.isWorker = true;
    const deadline = performance.now() + REGISTER_TIMEOUT_MS;
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

  /** Ends the watch. A worker must have stopped its work before; other workers take over the leases that it still holds. */
  async stop(): Promise<void> {
    this.stopping.abort();
    if (this.fuse) clearInterval(this.fuse);
    await this.running;
    await this.takingOver;
    if (this.ownId !== null) await this.unregister(this.ownId);
    await this.session?.close();
  }

  /** Returns null if it failed and may be tried again. */
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
    while (await pause(this.nextCheckMs(), this.stopping.signal)) await this.check();
  }

  private nextCheckMs(): number {
    const { watchMs, graceMs } = this.config.worker;
    const isUrgent = this.problem !== null && performance.now() - this.heldAt < graceMs;
    return isUrgent ? Math.min(RECONNECT_MS, watchMs) : watchMs;
  }

  private async check(): Promise<void> {
    // The time is taken before the query, because the result may be older than its arrival.
    const at = performance.now();
    try {
      const session = (this.session ??= await this.open());
      if (this.isLookDue(at)) return await this.look(session, at);
      // As long as the session exists it holds the lock, so nobody has taken over.
      await session.confirm();
      this.onSessionConfirmed(at);
    } catch (error) {
      void this.session?.close();
      this.session = null;
      this.leads = false;
      const problem = messageOf(error);
      if (this.problem === null)
        this.logger.warn({ reason: problem }, 'The database session that watches workers was lost; reconnecting');
      this.problem = problem;
    }
  }

  private isLookDue(at: number): boolean {
    if (this.looksOften || this.lookedAt === null) return true;
    const graces = this.isWorker ? GRACES_BETWEEN_LOOKS.worker : GRACES_BETWEEN_LOOKS.other;
    return at - this.lookedAt >= graces * this.config.worker.graceMs;
  }

  private async look(session: WatchSession, at: number): Promise<void> {
    const { graceMs } = this.config.worker;
    const grace = { ms: graceMs, watchedSince: session.since };
    const part = this.isWorker ? 'worker' : this.leads ? 'leader' : 'candidate';
    const { isLed, found } = await look(session, part, this.ownId, grace);
    const own = found.find(({ worker_id: id }) => id === this.ownId);
    if (this.ownId !== null && !own) throw new Error('This worker is no longer registered');
    if (own?.is_suspected) await clearSuspicion(session, own.worker_id);
    this.onSessionConfirmed(at);
    this.lookedAt = at;
    this.leads = !this.isWorker && isLed;
    const others = found.filter((worker) => worker !== own);
    // The own worker may be suspected because of its former session.
    const isNew = at - this.openedAt < graceMs;
    this.looksOften = this.leads || (this.isWorker && !isLed) || others.length > 0 || isNew;
    const fresh = others.filter(({ is_suspected: isSuspected }) => !isSuspected);
    if (fresh.length > 0)
      await suspect(
        session,
        fresh.map(({ worker_id: id }) => id),
      );
    const dead = others.filter(({ is_dead: isDead }) => isDead).map(({ worker_id: id }) => id);
    // The takeover may wait for locks, so the checks, which confirm the session, do not wait for it.
    if (dead.length > 0) this.takingOver ??= this.takeOver(dead, grace).finally(() => (this.takingOver = null));
  }

  private onSessionConfirmed(at: number): void {
    this.heldAt = at;
    if (this.problem !== null) this.logger.info('Workers are watched again');
    this.problem = null;
    if (this.isFenced && this.ownId !== null) this.worker.setId(this.ownId);
    this.isFenced = false;
  }

  /** Opens a session, by which other processes see that this one lives if it is a worker. */
  private async open(): Promise<WatchSession> {
    // PostgreSQL needs the time of its keepalive to notice a broken connection. This process notices a failure earlier,
    // before others may take over.
    const session = await WatchSession.open(this.config.database.url, this.config.worker.graceMs);
    try {
      if (this.isWorker) await this.registerOrReclaim(session);
      [this.openedAt, this.lookedAt, this.leads] = [performance.now(), null, false];
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  private async registerOrReclaim(session: WatchSession): Promise<void> {
    if (this.ownId !== null) {
      const outcome = await reclaimWorker(session, this.ownId);
      if (outcome === 'back') return;
      // PostgreSQL may not have noticed yet that the former session has ended.
      if (outcome === 'busy' && !this.isFenced) throw new Error('The lock of this worker is held by another session');
      this.logger.warn(
        { worker_id: this.ownId },
        'Other workers take over the work of this worker, which was declared dead',
      );
      this.fence();
    }
    const at = performance.now();
    this.ownId = await registerWorker(session, { hostname: hostname(), pid: process.pid });
    // Without this, the loss of the former session would fence the new registration.
    this.heldAt = at;
    this.worker.setId(this.ownId);
    this.isFenced = false;
    this.logger.info({ worker_id: this.ownId }, 'Registered as a worker');
  }

  /** Fences this worker one grace period after its session was last known to exist. Others may take over only after that. */
  private fenceIfLost(): void {
    if (this.problem === null || this.isFenced || performance.now() - this.heldAt < this.config.worker.graceMs) return;
    this.logger.warn(
      { worker_id: this.ownId },
      'This worker had no database session for too long; it stops its work, which other workers take over',
    );
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

  /** Returns true if there is more to take over. */
  private takeOverBatch(workerId: number, grace: Grace): Promise<boolean> {
    return inTransaction(this.dataSource, async (tx) => {
      if (!(await lockIfDead(tx, workerId, grace))) return false;
      const released = await requeueLeasesOf(tx, workerId, BATCH_SIZE);
      if (released > 0) this.logger.warn({ worker_id: workerId, released }, 'Took over the work of a dead worker');
      if (released === BATCH_SIZE) return true;
      if (!(await hasLeases(tx, workerId))) await removeWorker(tx, workerId);
      return false;
    });
  }

  /** Removes this worker if it holds no leases; otherwise others remove it after they have taken these over. */
  private async unregister(ownId: number): Promise<void> {
    try {
      const { manager } = this.dataSource;
      if (!(await hasLeases(manager, ownId))) await removeWorker(manager, ownId);
    } catch (error) {
      this.logger.warn({ err: error }, 'This worker could not be unregistered; another process will remove it');
    }
  }
}
