import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { notify } from '../../../../platform/kernel/notifications/pg-listener';
import { SessionAuthenticator } from './session-authenticator';

/** Opens the transactions after which sessions stand for something else. */
@Injectable()
export class SessionChanges {
  constructor(
    private readonly transactions: Transactions,
    private readonly authenticator: SessionAuthenticator,
  ) {}

  /**
   * Runs a transaction that changes what the sessions admit to. Every pod reads them again from its commit on, this
   * one before the operation answers.
   * @param sessions payload of the `session` wake-up, or what finds it in the answer of `fn`
   */
  async run<T>(sessions: string | ((answer: T) => string), fn: (tx: EntityManager) => Promise<T>): Promise<T> {
    const payloadOf = (answer: T) => (typeof sessions === 'string' ? sessions : sessions(answer));
    const answer = await this.transactions.run(async (tx) => {
      const result = await fn(tx);
      await notify(tx, 'session', payloadOf(result));
      return result;
    });
    this.authenticator.forget(payloadOf(answer));
    return answer;
  }
}
