import 'reflect-metadata';
import { Config } from './config/config';
import { createDataSource } from './database/data-source';
import { correctLedger, rebuildUsage, verifyBilling } from './modules/execution/billing/billing-checks';
import { LedgerRepository } from './modules/execution/billing/ledger.repository';
import { UsageRepository } from './modules/execution/billing/usage.repository';
import { failProcess } from './platform/kernel/process/fail-process';

const USAGE = `Usage: billing verify | correct <reason> | rebuild
  verify            compare the ledger with the node histories, and the daily totals with the ledger; exits with 1 if they differ
  correct <reason>  add ledger entries with this reason until the ledger equals the node histories
  rebuild           compute the daily totals again from the ledger
`;

/** Runs an operator's billing command. It may run beside API and worker, be stopped at any time, and be repeated. */
async function main([command, ...words]: readonly string[]): Promise<number> {
  const reason = words.join(' ');
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
      process.stdout.write(`Added ${await correctLedger(dataSource, ledger, reason)} entries to the ledger.\n`);
    } else {
      process.stdout.write(`Rebuilt the daily totals of ${await rebuildUsage(dataSource, ledger, usage)} clusters.\n`);
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
      `Node ${node_id}, state ${node_state_id}: RUNNING ${period(times.history_began_at, times.history_ended_at)} in its history, ` +
        `${period(times.ledger_began_at, times.ledger_ended_at)} in the ledger.\n`,
    );
  }
  if (total > differences.length) process.stderr.write(`And ${total - differences.length} more.\n`);
  if (total > 0)
    process.stderr.write('Run "billing correct <reason>" to make the ledger equal to the node histories.\n');
  if (wrongSums > 0)
    process.stderr.write(
      `${wrongSums} daily totals differ from the ledger. Run "billing rebuild" to compute them again.\n`,
    );
  if (total > 0 || wrongSums > 0) return 1;
  process.stdout.write(`Ledger, node histories and daily totals of ${clusters} clusters agree.\n`);
  return 0;
}

function period(from: Date | null, until: Date | number | null): string {
  if (from === null) return 'never';
  return `from ${from.toISOString()} ${until instanceof Date ? `until ${until.toISOString()}` : 'until now'}`;
}

main(process.argv.slice(2)).then((status) => process.exit(status), failProcess);
