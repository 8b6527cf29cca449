import type { Transactions } from '../../../../platform/kernel/persistence/transactions';
import type { SessionAuthenticator } from './session-authenticator';
import { SessionChanges } from './session-changes';
import { type Tx } from '../../../../platform/kernel/persistence/sql';

describe('SessionChanges', () => {
  function changesOver(log: string[]): SessionChanges {
    const tx = { query: async (_sql: string, params: string[]) => log.push(`notify ${params.join(' ')}`) };
    const transactions = {
      run: async <T>(fn: (tx: Tx) => Promise<T>) => {
        const result = await fn(tx as unknown as Tx);
        log.push('commit');
        return result;
      },
    };
    const authenticator = { invalidate: (payload: string) => log.push(`invalidate ${payload}`) };
    return new SessionChanges(transactions as Transactions, authenticator as unknown as SessionAuthenticator);
  }

  it('notifies other pods with the commit and invalidates the local cache before it returns', async () => {
    const log: string[] = [];
    const result = await changesOver(log).run('user:7', async () => {
      log.push('change');
      return 'done';
    });
    expect(result).toBe('done');
    expect(log).toEqual(['change', 'notify session user:7', 'commit', 'invalidate user:7']);
  });

  it('can take the session from the result of the change', async () => {
    const log: string[] = [];
    const revoked = { sessionId: 'a' };
    const result = await changesOver(log).run(
      ({ sessionId }) => sessionId,
      () => Promise.resolve(revoked),
    );
    expect(result).toBe(revoked);
    expect(log).toEqual(['notify session a', 'commit', 'invalidate a']);
  });

  it('invalidates nothing if the change fails', async () => {
    const log: string[] = [];
    const failing = changesOver(log).run('user:7', async () => Promise.reject(new Error('refused')));
    await expect(failing).rejects.toThrow('refused');
    expect(log).toEqual([]);
  });
});
