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

/** How long a pass whose signal was aborted has to end before it is left behind, milliseconds. */
const END_MS = 1_000;
/** How many passes of one reconciler may be left behind; then it waits for one of them to end. */
const MAX_LEFT_BEHIND = 3;

/** Runs the reconcilers, each at its own pace and none waiting for another. */
@Injectable()
export class ReconcileLoop {
  private readonly stopping = new AbortController();
  private readonly locks: AdvisoryLocks;
  private readonly reconcilers: Reconciler[] = [];
  private running: Promise<void>[] = [];
  /** What was wrong in the last pass, by reconciler. */
  private readonly problems = new Map<Reconciler, string>();
  private readonly leftBehind = new Map<Reconciler, number>();

  constructor(
    private readonly discovery: DiscoveryService,
    dataSource: DataSource,
    private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.locks = new AdvisoryLocks(dataSource);
    // One for each reconciler.
    setMaxListeners(0, this.stopping.signal);
  }

  /** Finds the reconcilers; throws when two have one name. */
  discover(): void {
    for (const { instance } of this.discovery.getProviders()) {
      if (!(instance instanceof Reconciler)) continue;
      if (this.reconcilers.some(({ name }) => name === instance.name))
        throw new Error(`Two reconcilers are named ${instance.name}`);
      this.reconcilers.push(instance);
    }
  }

  start(): void {
    this.running = this.reconcilers.map((reconciler) => this.repeat(reconciler));
  }

  /** Aborts what runs, within little more than a second. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.running);
    await this.locks.close();
  }

  private async repeat(reconciler: Reconciler): Promise<void> {
    const soonMs = Math.min(this.config.worker.reconcileMs, reconciler.intervalMs);
    let hasMore = true;
    while (await pause(hasMore ? soonMs : reconciler.intervalMs, this.stopping.signal))
      hasMore = await this.pass(reconciler);
  }

  /** One pass, whatever becomes of it. True when there is more to do. */
  private async pass(reconciler: Reconciler): Promise<boolean> {
    const { name } = reconciler;
    try {
      if ((this.leftBehind.get(reconciler) ?? 0) >= MAX_LEFT_BEHIND)
        throw new Error(`${MAX_LEFT_BEHIND} of its passes did not end`);
      if (!(await this.locks.tryLock(`reconcile:${name}`))) return false;
      let hasMore: boolean;
      try {
        hasMore = await this.withinDeadline(reconciler);
      } finally {
        await this.locks.unlock(`reconcile:${name}`);
      }
      if (this.problems.delete(reconciler)) this.logger.info({ reconciler: name }, 'A reconciler does its work again');
      return hasMore;
    } catch (error) {
      if (!this.stopping.signal.aborted) this.report(reconciler, error);
      return false;
    }
  }

  /** Returns when the pass has ended, or soon after it should have. */
  private async withinDeadline(reconciler: Reconciler): Promise<boolean> {
    // Not `AbortSignal.any`: with a listener, the signal it answers stays in memory until it is aborted, which that of a
    // pass that ends in time never is.
    const { stopping } = this;
    const pass = new AbortController();
    const cut = () => pass.abort();
    let isLate = false;
    const deadline = setTimeout(() => {
      isLate = true;
      cut();
    }, reconciler.deadlineMs);
    stopping.signal.addEventListener('abort', cut);
    let hasEnded = false;
    const work = Promise.resolve()
      .then(() => reconciler.reconcile(pass.signal))
      .catch((error: unknown) => {
        if (!isLate) throw error;
      })
      .finally(() => (hasEnded = true));
    let patience: NodeJS.Timeout | undefined;
    const left = new Promise<void>((resolve) => {
      pass.signal.addEventListener('abort', () => (patience = setTimeout(resolve, END_MS)));
    });
    if (stopping.signal.aborted) cut();
    try {
      const result = await Promise.race([work, left]);
      if (!hasEnded) this.leaveBehind(reconciler, work);
      if (isLate) throw new Error(`The pass did not end within ${reconciler.deadlineMs} ms and was cut`);
      return result === 'more';
    } finally {
      clearTimeout(deadline);
      clearTimeout(patience);
      stopping.signal.removeEventListener('abort', cut);
    }
  }

  private leaveBehind(reconciler: Reconciler, work: Promise<unknown>): void {
    const count = (change: number) => this.leftBehind.set(reconciler, (this.leftBehind.get(reconciler) ?? 0) + change);
    count(1);
    void work.catch(() => undefined).finally(() => count(-1));
  }

  private report(reconciler: Reconciler, error: unknown): void {
    const problem = messageOf(error);
    // A continuing fault is logged once.
    if (this.problems.get(reconciler) !== problem)
      this.logger.error({ err: error, reconciler: reconciler.name }, 'A reconciler failed; the next passes try again');
    this.problems.set(reconciler, problem);
  }
}
