import { setMaxListeners } from 'node:events';
import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { Config } from '../../../config/config';
import { messageOf } from '../../kernel/errors/message-of';
import { LOGGER, type Logger } from '../../kernel/logging/logger';
import { pause } from '../../kernel/process/pause';
import { AdvisoryLocks } from './advisory-locks';
import { Reconciler } from './reconciler';
import { type Ask, WorkQuestions } from './work-questions';

/** Time that an aborted pass has to end before the loop continues without it, milliseconds. */
const ABORT_GRACE_MS = 1_000;
/** Aborted passes of one reconciler that may still run. With more, the reconciler waits for one of them to end. */
const MAX_UNENDED = 3;

/** Runs the reconcilers at their intervals, independently of each other. */
@Injectable()
export class ReconcileLoop {
  private readonly stopping = new AbortController();
  private readonly locks: AdvisoryLocks;
  private readonly questions: WorkQuestions;
  private readonly reconcilers: Reconciler[] = [];
  private running: Promise<void>[] = [];
  private startedAt = 0;
  /** The problem of the last pass, by reconciler. */
  private readonly problems = new Map<Reconciler, string>();
  /** Number of aborted passes that still run, by reconciler. */
  private readonly unended = new Map<Reconciler, number>();

  constructor(
    private readonly discovery: DiscoveryService,
    dataSource: DataSource,
    private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.locks = new AdvisoryLocks(dataSource);
    this.questions = new WorkQuestions(dataSource);
    // Each reconciler adds a listener.
    setMaxListeners(0, this.stopping.signal);
  }

  /** Finds the reconcilers. Throws if two have the same name. */
  discover(): void {
    for (const { instance } of this.discovery.getProviders()) {
      if (!(instance instanceof Reconciler)) continue;
      if (this.reconcilers.some(({ name }) => name === instance.name))
        throw new Error(`Two reconcilers are named ${instance.name}`);
      this.reconcilers.push(instance);
    }
  }

  start(): void {
    this.startedAt = performance.now();
    this.running = this.reconcilers.map((reconciler) => this.repeat(reconciler));
  }

  /** Aborts running passes, and resolves within little more than a second. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.running);
    await this.locks.close();
  }

  private async repeat(reconciler: Reconciler): Promise<void> {
    const soonMs = Math.min(this.config.worker.reconcileMs, reconciler.intervalMs);
    let hasMore = true;
    while (await pause(hasMore ? soonMs : this.untilTick(reconciler.intervalMs), this.stopping.signal))
      hasMore = await this.pass(reconciler);
  }

  /** Returns the time until the next tick of this interval. Passes that begin at the same tick take their locks together. */
  private untilTick(intervalMs: number): number {
    return intervalMs - ((performance.now() - this.startedAt) % intervalMs);
  }

  /** Runs one pass and logs its failure. Returns true if there is more to do. */
  private async pass(reconciler: Reconciler): Promise<boolean> {
    const { name } = reconciler;
    try {
      if ((this.unended.get(reconciler) ?? 0) >= MAX_UNENDED)
        throw new Error(`${MAX_UNENDED} aborted passes have not ended`);
      const hasMore = await this.passIfNeeded(reconciler);
      if (this.problems.delete(reconciler)) this.logger.info({ reconciler: name }, 'A reconciler works again');
      return hasMore;
    } catch (error) {
      if (!this.stopping.signal.aborted) this.report(reconciler, error);
      return false;
    }
  }

  /** Looks for work before it takes the lock, because mostly there is none. */
  private async passIfNeeded(reconciler: Reconciler): Promise<boolean> {
    const lock = `reconcile:${reconciler.name}`;
    const ask: Ask = (condition) => this.questions.ask(condition);
    if (!(await this.withinDeadline(reconciler, () => reconciler.hasWork(ask)))) return false;
    if (!(await this.locks.tryLock(lock))) return false;
    try {
      return (await this.withinDeadline(reconciler, (signal) => reconciler.reconcile(signal))) === 'more';
    } finally {
      this.locks.release(lock);
    }
  }

  /** Does a part of a pass, and resolves when it has ended. Rejects soon after its deadline. */
  private async withinDeadline<T>(
    reconciler: Reconciler,
    part: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    // `AbortSignal.any` would leak: with a listener, its signal stays in memory until it aborts, which it never does for a
    // pass that ends in time.
    const { stopping } = this;
    const pass = new AbortController();
    const abort = () => pass.abort();
    let isLate = false;
    const deadline = setTimeout(() => {
      isLate = true;
      abort();
    }, reconciler.deadlineMs);
    stopping.signal.addEventListener('abort', abort);
    let hasEnded = false;
    const work = Promise.resolve()
      .then(() => part(pass.signal))
      .catch((error: unknown): undefined => {
        if (!isLate) throw error;
      })
      .finally(() => (hasEnded = true));
    let grace: NodeJS.Timeout | undefined;
    const graceOver = new Promise<undefined>((resolve) => {
      pass.signal.addEventListener('abort', () => (grace = setTimeout(() => resolve(undefined), ABORT_GRACE_MS)));
    });
    if (stopping.signal.aborted) abort();
    try {
      const result = await Promise.race([work, graceOver]);
      if (!hasEnded) this.countUnended(reconciler, work);
      if (isLate) throw new Error(`The pass did not end within ${reconciler.deadlineMs} ms and was aborted`);
      return result;
    } finally {
      clearTimeout(deadline);
      clearTimeout(grace);
      stopping.signal.removeEventListener('abort', abort);
    }
  }

  private countUnended(reconciler: Reconciler, work: Promise<unknown>): void {
    const count = (change: number) => this.unended.set(reconciler, (this.unended.get(reconciler) ?? 0) + change);
    count(1);
    void work.catch(() => undefined).finally(() => count(-1));
  }

  private report(reconciler: Reconciler, error: unknown): void {
    const problem = messageOf(error);
    // A problem that persists is logged once.
    if (this.problems.get(reconciler) !== problem)
      this.logger.error({ err: error, reconciler: reconciler.name }, 'A reconciler failed; its next pass tries again');
    this.problems.set(reconciler, problem);
  }
}
