import type {
  DataSource,
  EntitySubscriberInterface,
  QueryRunner,
  TransactionCommitEvent,
  TransactionRollbackEvent,
} from 'typeorm';
import type { Tx } from '../persistence/sql';
import { notify, type PgListener, type WakeUp, type WakeUpChannel } from './pg-listener';

/** What open transactions ask for. */
const asked = new WeakMap<QueryRunner, WakeUp[]>();

/**
 * Sends a wake-up once the transaction has committed. It may be lost, if the process dies in between: for listeners that
 * poll as well. PostgreSQL lets only one of the transactions that notify commit at a time, so hot ones must not.
 */
export async function wakeAfterCommit(tx: Tx, channel: WakeUpChannel, payload = ''): Promise<void> {
  const { queryRunner } = tx;
  if (!queryRunner?.isTransactionActive) {
    await notify(tx, channel, payload);
    return;
  }
  const wakeUps = asked.get(queryRunner) ?? [];
  wakeUps.push({ channel, payload });
  asked.set(queryRunner, wakeUps);
}

/** From now on the wake-ups that transactions of the data source ask for are sent by the listener's connection. */
export function sendWakeUps(dataSource: DataSource, listener: PgListener): void {
  dataSource.subscribers.push(new WakeUpSubscriber((wakeUps) => listener.send(wakeUps)));
}

/** Hands on the wake-ups of each transaction that has committed, and forgets those of one that has not. */
class WakeUpSubscriber implements EntitySubscriberInterface {
  constructor(private readonly send: (wakeUps: readonly WakeUp[]) => void) {}

  afterTransactionCommit({ queryRunner }: TransactionCommitEvent): void {
    const wakeUps = asked.get(queryRunner);
    // A savepoint is no commit.
    if (!wakeUps || queryRunner.isTransactionActive) return;
    asked.delete(queryRunner);
    this.send(wakeUps);
  }

  afterTransactionRollback({ queryRunner }: TransactionRollbackEvent): void {
    if (!queryRunner.isTransactionActive) asked.delete(queryRunner);
  }
}
