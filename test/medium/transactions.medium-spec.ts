import { type EntityManager } from 'typeorm';
import { type IdempotencyContext, runInContext } from '../../src/platform/kernel/context/request-context';
import { Transactions } from '../../src/platform/kernel/persistence/transactions';
import { preparedDatabase } from './harness/test-api';

const CALLERS = 12;

// Real: PostgreSQL. Left out: HTTP, which carries the key.
describe('Transactions', () => {
  const { dataSource } = preparedDatabase();
  let transactions: Transactions;
  let userId: number;
  let keys = 0;

  beforeAll(async () => {
    transactions = new Transactions(dataSource);
    [{ user_id: userId } = { user_id: 0 }] = await dataSource.query<{ user_id: number }[]>('SELECT user_id FROM users');
    await dataSource.query('CREATE TABLE effects (effect_id bigint GENERATED ALWAYS AS IDENTITY, key text)');
    await dataSource.query('CREATE TABLE accounts (account_id int PRIMARY KEY, amount int NOT NULL)');
    await dataSource.query('INSERT INTO accounts VALUES (1, 0), (2, 0)');
  });

  function newKey(more: Partial<IdempotencyContext> = {}): IdempotencyContext {
    keys += 1;
    return { key: `key-${keys}`, userId, operation: 'runJob', requestHash: 'body', ...more };
  }

  /** Runs `fn` as the effect of a request with the key. */
  function request<T>(idempotency: IdempotencyContext, fn: (tx: EntityManager) => Promise<T>): Promise<T> {
    return runInContext({ correlationId: 'test', idempotency }, () => transactions.run(fn));
  }

  const effect = (key: string) => async (tx: EntityManager) => {
    const [row] = await tx.query<{ effect_id: number }[]>('INSERT INTO effects (key) VALUES ($1) RETURNING effect_id', [
      key,
    ]);
    return { effect_id: row?.effect_id, at: new Date(0), nested: { list: [1, 'two', null] } };
  };

  async function effects(key: string): Promise<number> {
    const [row] = await dataSource.query<{ count: number }[]>('SELECT count(*) FROM effects WHERE key = $1', [key]);
    return row?.count ?? 0;
  }

  it('executes concurrent requests with one key once, and returns the same response to all', async () => {
    const idempotency = newKey();
    const answers = await Promise.all(
      Array.from({ length: CALLERS }, () => request(idempotency, effect(idempotency.key))),
    );
    expect(await effects(idempotency.key)).toBe(1);
    // The responses are identical, including the order of the fields.
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  });

  it('executes the next request if the first fails, and keeps nothing of the failure', async () => {
    const idempotency = newKey();
    let calls = 0;
    const outcomes = await Promise.allSettled(
      Array.from({ length: CALLERS }, () =>
        request(idempotency, async (tx) => {
          calls += 1;
          const answer = await effect(idempotency.key)(tx);
          if (calls <= 3) throw new Error('refused');
          return answer;
        }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(3);
    expect(await effects(idempotency.key)).toBe(1);
    expect(calls).toBe(4);
  });

  it.each<[string, Partial<IdempotencyContext>]>([
    ['another body', { requestHash: 'another body' }],
    ['another operation', { operation: 'startCluster' }],
  ])('refuses the key with %s', async (_what, other) => {
    const idempotency = newKey();
    await request(idempotency, effect(idempotency.key));
    await expect(request({ ...idempotency, ...other }, effect(idempotency.key))).rejects.toMatchObject({
      code: 'REQUEST.IDEMPOTENCY_MISMATCH',
      kind: 'conflict',
    });
    expect(await effects(idempotency.key)).toBe(1);
  });

  it('keeps the keys of two users apart', async () => {
    const idempotency = newKey();
    await request(idempotency, effect(idempotency.key));
    await request({ ...idempotency, userId: userId + 1 }, effect(idempotency.key));
    expect(await effects(idempotency.key)).toBe(2);
  });

  it('stores no response if its transaction rolls back', async () => {
    const idempotency = newKey();
    await expect(request(idempotency, () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
    expect(await dataSource.query('SELECT 1 FROM idempotency_keys WHERE key = $1', [idempotency.key])).toEqual([]);
  });

  it('retries after a deadlock', async () => {
    let locked = 0;
    let go: () => void = () => undefined;
    const bothLocked = new Promise<void>((resolve) => (go = resolve));
    const move = (from: number, to: number) =>
      transactions.run(async (tx) => {
        await tx.query('UPDATE accounts SET amount = amount - 1 WHERE account_id = $1', [from]);
        locked += 1;
        if (locked === 2) go();
        await bothLocked;
        await tx.query('UPDATE accounts SET amount = amount + 1 WHERE account_id = $1', [to]);
      });
    await Promise.all([move(1, 2), move(2, 1)]);
    // Either may be chosen as the victim if both have waited equally long.
    expect(locked).toBeGreaterThan(2);
    expect(await dataSource.query('SELECT amount FROM accounts ORDER BY account_id')).toEqual([
      { amount: 0 },
      { amount: 0 },
    ]);
  });
});
