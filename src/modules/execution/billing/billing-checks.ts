import type { DataSource } from 'typeorm';
import type { LedgerDifference, LedgerRepository } from './ledger.repository';
import type { UsageRepository } from './usage.repository';
import { inTransaction } from '../../../platform/kernel/persistence/sql';

/** Maximum number of differences that a report lists. It counts all of them. */
const MAX_LISTED = 20;

export interface BillingReport {
  clusters: number;
  /** Differences between ledger and node histories: the first ones, and the total number. */
  differences: LedgerDifference[];
  total: number;
  wrongSums: number;
}

/** Compares the ledger with the node histories, and the sums with the ledger, one cluster at a time. */
export async function verifyBilling(ledger: LedgerRepository, usage: UsageRepository): Promise<BillingReport> {
  const report: BillingReport = { clusters: 0, differences: [], total: 0, wrongSums: 0 };
  for await (const clusterId of clustersOf(ledger)) {
    const { total, some } = await ledger.differences(clusterId, MAX_LISTED);
    report.clusters += 1;
    report.total += total;
    report.differences.push(...some.slice(0, MAX_LISTED - report.differences.length));
    report.wrongSums += await usage.wrongSums(clusterId);
  }
  return report;
}

/** Adds entries until the ledger equals the histories. Returns the number of entries. */
export async function correctLedger(dataSource: DataSource, ledger: LedgerRepository, reason: string): Promise<number> {
  let written = 0;
  for await (const clusterId of clustersOf(ledger)) {
    if ((await ledger.differences(clusterId, 1)).total === 0) continue;
    written += await inTransaction(dataSource, (tx) => ledger.correct(tx, clusterId, reason));
  }
  return written;
}

/** Rebuilds all sums from the ledger. Returns the number of clusters. */
export async function rebuildUsage(
  dataSource: DataSource,
  ledger: LedgerRepository,
  usage: UsageRepository,
): Promise<number> {
  let clusters = 0;
  for await (const clusterId of clustersOf(ledger)) {
    await inTransaction(dataSource, async (tx) => {
      await usage.markStale(tx, clusterId);
      await usage.renew(tx, clusterId);
    });
    clusters += 1;
  }
  return clusters;
}

async function* clustersOf(ledger: LedgerRepository): AsyncGenerator<number> {
  for (let id = await ledger.nextCluster(-1); id !== null; id = await ledger.nextCluster(id)) yield id;
}
