import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../../../config/config';
import { Reconciler } from '../../../../platform/background/workflows/reconciler';
import type { Ask } from '../../../../platform/background/workflows/work-questions';
import { inTransaction } from '../../../../platform/kernel/persistence/sql';
import { RunSharesRepository } from '../run-shares.repository';

const BATCH_SIZE = 500;

/** Sums up the shares of runs that have ended, by day. */
@Injectable()
export class RunCostReconciler extends Reconciler {
  readonly name = 'run-costs';
  readonly intervalMs = this.config.worker.reconcileMs;
  readonly deadlineMs = 60_000;

  constructor(
    private readonly dataSource: DataSource,
    private readonly shares: RunSharesRepository,
    private readonly config: Config,
  ) {
    super();
  }

  override hasWork(ask: Ask): Promise<boolean> {
    return ask(this.shares.hasEnded);
  }

  async reconcile(signal: AbortSignal): Promise<void | 'more'> {
    signal.throwIfAborted();
    const summed = await inTransaction(this.dataSource, (tx) => this.shares.sumUp(tx, BATCH_SIZE));
    if (summed === BATCH_SIZE) return 'more';
  }
}
