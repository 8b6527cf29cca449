import type { DataSource } from 'typeorm';
import type { LedgerDifference, LedgerRepository } from './ledger.repository';
import type { UsageRepository } from './usage.repository';

/** Differences that a report lists; it counts all. */
const LISTED = 20;

export interface BillingReport {
  clusters: number;
  /** Stays that the ledger does not have as the histories have them: some of them, and how many there are. */
  differences: LedgerDifference[];
  total: number;
  /** Sums by day that are not those of the ledger. */
  wrongSums: number;
}

/** Compares the ledger with the histories of nodes, and the sums with the ledger, a cluster at a time. */
export async function verifyBilling(ledger: LedgerRepository, usage: UsageRepository): Promise<BillingReport> {
  const report: BillingReport = { clusters: 0, differences: [], total: 0, wrongSums: 0 };
  for await (const clusterId of clustersOf(ledger)) {
    const { total, some } = await ledger.differences(clusterId, LISTED);
    report.clusters += 1;
    report.total += total;
    report.differences.push(...some.slice(0, LISTED - report.differences.length));
    report.wrongSums += await usage.wrongSums(clusterId);
  }
  return report;
}

/** Makes the ledger equal to the histories by further entries; answers how many it wrote. */
export async function correctLedger(dataSource: DataSource, ledger: LedgerRepository, reason: string): Promise<number> {
  let written = 0;
  for await (const clusterId of clustersOf(ledger)) {
    if ((await ledger.differences(clusterId, 1)).total === 0) continue;
    written += await dataSource.transaction((tx) => ledger.correct(tx, clusterId, reason));
  }
  return written;
}

/** Makes all sums anew from the ledger; answers of how many clusters. */
export async function rebuildUsage(
  dataSource: DataSource,
  ledger: LedgerRepository,
  usage: UsageRepository,
): Promise<number> {
  let clusters = 0;
  for await (const clusterId of clustersOf(ledger)) {
    await dataSource.transaction(async (tx) => {
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
