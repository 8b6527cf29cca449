import type {
  DataSource,
  EntitySubscriberInterface,
  QueryRunner,
  TransactionCommitEvent,
  TransactionRollbackEvent,
} from 'typeorm';
import type { Tx } from '../persistence/sql';
import { notify, type PgListener, type Notification, type NotificationChannel } from './pg-listener';

/** What open transactions ask for. */
const pending = new WeakMap<QueryRunner, Notification[]>();

/**
 * Sends a wake-up once the transaction has committed. It may be lost, if the process dies in between: for listeners that
 * poll as well. PostgreSQL lets only one of the transactions that notify commit at a time, so hot ones must not.
 */
export async function notifyAfterCommit(tx: Tx, channel: NotificationChannel, payload = ''): Promise<void> {
  const { queryRunner } = tx;
  if (!queryRunner?.isTransactionActive) {
    await notify(tx, channel, payload);
    return;
  }
  const notifications = pending.get(queryRunner) ?? [];
  notifications.push({ channel, payload });
  pending.set(queryRunner, notifications);
}

/** From now on the wake-ups that transactions of the data source ask for are sent by the listener's connection. */
export function sendAfterCommit(dataSource: DataSource, listener: PgListener): void {
  dataSource.subscribers.push(new CommitSubscriber((notifications) => listener.send(notifications)));
}

/** Hands on the wake-ups of each transaction that has committed, and forgets those of one that has not. */
class CommitSubscriber implements EntitySubscriberInterface {
  constructor(private readonly send: (notifications: readonly Notification[]) => void) {}

  afterTransactionCommit({ queryRunner }: TransactionCommitEvent): void {
    const notifications = pending.get(queryRunner);
    // A savepoint is no commit.
    if (!notifications || queryRunner.isTransactionActive) return;
    pending.delete(queryRunner);
    this.send(notifications);
  }

  afterTransactionRollback({ queryRunner }: TransactionRollbackEvent): void {
    if (!queryRunner.isTransactionActive) pending.delete(queryRunner);
  }
}
