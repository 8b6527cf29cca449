import 'reflect-metadata';
import { Config } from './config/config';
import { createDataSource } from './database/data-source';
import { correctLedger, rebuildUsage, verifyBilling } from './modules/execution/billing/billing-checks';
import { LedgerRepository } from './modules/execution/billing/ledger.repository';
import { UsageRepository } from './modules/execution/billing/usage.repository';
import { failProcess } from './platform/kernel/process/fail-process';

const USAGE = `Usage: billing verify | correct <reason> | rebuild
  verify            compare the ledger with the histories of nodes, and the sums by day with the ledger; 1 if they differ
  correct <reason>  make the ledger equal to the histories, by further entries that carry the reason
  rebuild           make the sums by day anew from the ledger
`;

/** Commands of operators about what is billed. They may run beside API and worker, be stopped, and be repeated. */
async function main([command, ...given]: readonly string[]): Promise<number> {
  const reason = given.join(' ');
  if (!['verify', 'correct', 'rebuild'].includes(command ?? '') || (command === 'correct') !== (reason !== '')) {
    process.stderr.write(USAGE);
    return 2;
  }
  const config = Config.load();
  const dataSource = await createDataSource(config.database, 'billing').initialize();
  const ledger = new LedgerRepository(dataSource);
  const usage = new UsageRepository(dataSource);
  try {
    if (command === 'verify') return await verify(ledger, usage);
    if (command === 'correct') {
      process.stdout.write(`${await correctLedger(dataSource, ledger, reason)} entries were added to the ledger.\n`);
    } else {
      process.stdout.write(`The sums of ${await rebuildUsage(dataSource, ledger, usage)} clusters are made anew.\n`);
    }
    return 0;
  } finally {
    await dataSource.destroy();
  }
}

async function verify(ledger: LedgerRepository, usage: UsageRepository): Promise<number> {
  const { clusters, differences, total, wrongSums } = await verifyBilling(ledger, usage);
  for (const { node_id, node_state_id, ...times } of differences) {
    process.stderr.write(
      `Node ${node_id}, entry ${node_state_id}: RUNNING ${period(times.history_began_at, times.history_ended_at)} by its history, ` +
        `${period(times.ledger_began_at, times.ledger_ended_at)} by the ledger.\n`,
    );
  }
  if (total > differences.length) process.stderr.write(`and ${total - differences.length} more.\n`);
  if (total > 0) process.stderr.write('"billing correct" makes the ledger equal to the histories.\n');
  if (wrongSums > 0)
    process.stderr.write(`${wrongSums} sums by day are not those of the ledger; "billing rebuild" makes them anew.\n`);
  if (total > 0 || wrongSums > 0) return 1;
  process.stdout.write(`The ledger equals the histories, and the sums the ledger, of ${clusters} clusters.\n`);
  return 0;
}

function period(from: Date | null, until: Date | number | null): string {
  if (from === null) return 'never';
  return `from ${from.toISOString()} ${until instanceof Date ? `until ${until.toISOString()}` : 'on'}`;
}

main(process.argv.slice(2)).then((status) => process.exit(status), failProcess);
