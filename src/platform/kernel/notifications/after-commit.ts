import type {
  DataSource,
  EntitySubscriberInterface,
  QueryRunner,
  TransactionCommitEvent,
  TransactionRollbackEvent,
} from 'typeorm';
import type { Tx } from '../persistence/sql';
import { notify, type PgListener, type Notification, type NotificationChannel } from './pg-listener';

/** Notifications of open transactions. */
const pending = new WeakMap<QueryRunner, Notification[]>();

/**
 * Sends a notification after the transaction has committed. It is lost if the process dies in between, so subscribers must
 * poll as well. Frequent transactions must not notify themselves, because PostgreSQL commits those that do one at a time.
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

/** Sends the notifications of the data source's transactions over the listener's connection from now on. */
export function sendAfterCommit(dataSource: DataSource, listener: PgListener): void {
  dataSource.subscribers.push(new CommitSubscriber((notifications) => listener.send(notifications)));
}

/** Sends the notifications of each transaction that commits, and drops those of one that rolls back. */
class CommitSubscriber implements EntitySubscriberInterface {
  constructor(private readonly send: (notifications: readonly Notification[]) => void) {}

  afterTransactionCommit({ queryRunner }: TransactionCommitEvent): void {
    const notifications = pending.get(queryRunner);
    // The event also comes when a savepoint is released, which is no commit.
    if (!notifications || queryRunner.isTransactionActive) return;
    pending.delete(queryRunner);
    this.send(notifications);
  }

  afterTransactionRollback({ queryRunner }: TransactionRollbackEvent): void {
    if (!queryRunner.isTransactionActive) pending.delete(queryRunner);
  }
}
