import { ConnectionShares } from './connection-shares';

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('ConnectionShares', () => {
  let shares: ConnectionShares;
  /** Callers that got a connection, in order. */
  let inside: string[];
  let leaves: (() => void)[];

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    shares = new ConnectionShares(20);
    inside = [];
    leaves = [];
  });

  afterEach(() => jest.useRealTimers());

  async function enter(name: string, tenantId: string | null, times = 1): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      const [kind, id] = name.split(' ') as ['user' | 'node', string];
      void shares.acquire({ kind, id: Number(id), tenantId }).then((leave) => {
        inside.push(name);
        leaves.push(leave);
      });
    }
    await settled();
  }

  const count = (name: string) => inside.filter((one) => one === name).length;

  it('gives one caller a quarter of the pool, and lets the rest of its work wait', async () => {
    await enter('user 1', null, 40);
    expect(count('user 1')).toBe(5);
    await enter('user 2', null, 40);
    expect(count('user 2')).toBe(5);
    leaves.shift()?.();
    await settled();
    expect(count('user 1')).toBe(6);
  });

  it('gives the users of one tenant half of the pool, in which they take turns', async () => {
    await enter('user 1', 'tenant', 10);
    await enter('user 2', 'tenant', 10);
    await enter('user 3', 'tenant', 5);
    await enter('user 4', 'tenant', 5);
    expect(inside).toHaveLength(10);
    await enter('user 5', 'another tenant');
    expect(count('user 5')).toBe(1);
    for (const leave of leaves.splice(0, 2)) leave();
    await settled();
    expect([count('user 3'), count('user 4')]).toEqual([1, 1]);
  });

  it('gives the nodes of one tenant a quarter of the pool besides its users', async () => {
    for (let node = 1; node <= 8; node += 1) await enter(`node ${node}`, 'tenant', 5);
    expect(inside).toHaveLength(5);
    for (let user = 1; user <= 8; user += 1) await enter(`user ${user}`, 'tenant', 5);
    expect(inside).toHaveLength(15);
    await enter('node 9', 'another tenant');
    expect(count('node 9')).toBe(1);
  });

  it('gives back a connection once, and forgets callers that use none', async () => {
    await enter('user 1', 'tenant', 6);
    const [first] = leaves;
    first?.();
    first?.();
    await settled();
    expect(count('user 1')).toBe(6);
    await enter('user 1', 'tenant');
    expect(count('user 1')).toBe(6);
    for (const leave of leaves) leave();
    await settled();
    for (const leave of leaves) leave();
    await settled();
    await enter('user 1', 'tenant', 5);
    expect(count('user 1')).toBe(12);
  });

  it('has a connection for each caller, however small the pool is', async () => {
    shares = new ConnectionShares(2);
    await enter('user 1', 'tenant', 3);
    expect(inside).toEqual(['user 1']);
  });
});
