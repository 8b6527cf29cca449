import type { DataSource } from 'typeorm';
import { Config } from '../../../src/config/config';
import { BillingService } from '../../../src/modules/execution/billing/billing.service';
import { LedgerRepository } from '../../../src/modules/execution/billing/ledger.repository';
import { UsageRepository } from '../../../src/modules/execution/billing/usage.repository';
import { UsageReconciler } from '../../../src/modules/execution/billing/background/usage-reconciler';
import { createLogger } from '../../../src/platform/kernel/logging/logger';

/** Billing over a database, without the rest of the application. */
export function makeBilling(dataSource: DataSource) {
  const config = Config.load();
  const ledger = new LedgerRepository(dataSource);
  const usage = new UsageRepository(dataSource);
  const reconciler = new UsageReconciler(dataSource, ledger, usage, config, createLogger('test', 'fatal'));
  return {
    ledger,
    usage,
    service: new BillingService(usage, config),
    reconcile: () => reconciler.reconcile(new AbortController().signal),
  };
}
