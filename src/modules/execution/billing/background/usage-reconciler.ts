import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../../../config/config';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import { Reconciler } from '../../../../platform/background/workflows/reconciler';
import type { Ask } from '../../../../platform/background/workflows/work-questions';
import { FailureCollector } from '../../../../platform/background/workflows/failure-collector';
import { LedgerRepository } from '../ledger.repository';
import { UsageRepository } from '../usage.repository';
import { inTransaction } from '../../../../platform/kernel/persistence/sql';

const BATCH_SIZE = 200;

/** Keeps the daily sums equal to the ledger, and the ledger equal to what processes of a release without ledger do. */
@Injectable()
export class UsageReconciler extends Reconciler {
  readonly name = 'usage-days';
  readonly intervalMs = this.config.worker.reconcileMs;
  readonly deadlineMs = 60_000;

  constructor(
    private readonly dataSource: DataSource,
    private readonly ledger: LedgerRepository,
    private readonly usage: UsageRepository,
    private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
  }

  override hasWork(ask: Ask): Promise<boolean> {
    return ask(() => `(${this.ledger.hasMissed()} OR ${this.usage.hasStale()})`);
  }

  async reconcile(signal: AbortSignal): Promise<void | 'more'> {
    const clusters = await inTransaction(this.dataSource, (tx) => this.ledger.catchUp(tx));
    if (clusters > 0) this.logger.warn({ clusters }, 'Booked node transitions that were missing in the ledger');
    const stale = await this.usage.staleClusters(BATCH_SIZE);
    const failures = new FailureCollector(signal);
    for (const clusterId of stale)
      await failures.attempt(`Usage of cluster ${clusterId}`, () =>
        inTransaction(this.dataSource, (tx) => this.usage.renew(tx, clusterId)),
      );
    failures.throwFailures();
    if (stale.length === BATCH_SIZE) return 'more';
  }
}
