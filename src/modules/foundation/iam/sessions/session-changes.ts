import { Injectable } from '@nestjs/common';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { notify } from '../../../../platform/kernel/notifications/pg-listener';
import { SessionAuthenticator } from './session-authenticator';
import { type Tx } from '../../../../platform/kernel/persistence/sql';

/** Runs transactions that change sessions or their owners' rights, and invalidates the cached sessions. */
@Injectable()
export class SessionChanges {
  constructor(
    private readonly transactions: Transactions,
    private readonly authenticator: SessionAuthenticator,
  ) {}

  /**
   * Runs `fn` in a transaction and notifies all pods on commit to read the sessions again. This pod does so before
   * `run` returns.
   * @param sessions payload of the `session` notification, or a function that derives it from the result of `fn`
   */
  async run<T>(sessions: string | ((result: T) => string), fn: (tx: Tx) => Promise<T>): Promise<T> {
    const payloadOf = (result: T) => (typeof sessions === 'string' ? sessions : sessions(result));
    const result = await this.transactions.run(async (tx) => {
      const changed = await fn(tx);
      await notify(tx, 'session', payloadOf(changed));
      return changed;
    });
    this.authenticator.invalidate(payloadOf(result));
    return result;
  }
}
