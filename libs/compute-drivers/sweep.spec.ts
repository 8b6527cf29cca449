import { ComputeDriverError } from './compute-driver';
import { mergeSweepResults, removeOrphans } from './sweep';

const OLD = new Date(0);
const SCOPE = { olderThan: new Date(1), liveAmong: () => Promise.resolve(new Set<string>()) };
const context = (ms = 50_000) => ({ signal: AbortSignal.timeout(ms) });
const found = (count: number) => Array.from({ length: count }, (_, n) => ({ nodeToken: `t${n}`, createdAt: OLD }));
const fault = (kind: ComputeDriverError['kind'], retryAfterMs: number | null = null) =>
  new ComputeDriverError('Test', `it is ${kind}`, { kind, retryAfterMs });

describe('removeOrphans', () => {
  it('removes old resources of nodes that are not live, and those of unknown age only on request', async () => {
    const asked: string[] = [];
    const removed: string[] = [];
    const liveAmong = (tokens: readonly string[]) => {
      asked.push(...tokens);
      return Promise.resolve(new Set(['live']));
    };
    const remove = ([one]: readonly { nodeToken: string }[]) => Promise.resolve(removed.push(one?.nodeToken ?? ''));
    const things = [
      ...[
        { nodeToken: 'live', createdAt: OLD },
        { nodeToken: 'gone', createdAt: OLD },
        { nodeToken: 'gone', createdAt: OLD },
      ],
      ...[
        { nodeToken: 'young', createdAt: new Date(1) },
        { nodeToken: 'ageless', createdAt: null },
      ],
    ];
    const scope = { olderThan: new Date(1), liveAmong };
    expect(await removeOrphans(things, scope, context(), { remove })).toEqual({ removed: ['gone'], failed: [] });
    expect([asked, removed]).toEqual([
      ['live', 'gone'],
      ['gone', 'gone'],
    ]);
    const swept = await removeOrphans(things, scope, context(), { remove, removesWithoutAge: true });
    expect(swept.removed).toEqual(['gone', 'ageless']);
  });

  it('does not look up live nodes if nothing is found', async () => {
    const liveAmong = () => Promise.reject(new Error('Live nodes were looked up'));
    const remove = () => Promise.reject(new Error('Something was removed'));
    expect(await removeOrphans([], { ...SCOPE, liveAmong }, context(), { remove })).toEqual({
      removed: [],
      failed: [],
    });
  });

  it('limits the calls at once, and the resources per call', async () => {
    let [now, most] = [0, 0];
    const sizes: number[] = [];
    const remove = async (some: readonly unknown[]) => {
      sizes.push(some.length);
      most = Math.max(most, (now += 1));
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
    };
    expect((await removeOrphans(found(1003), SCOPE, context(), { remove, maxPerCall: 10 })).removed).toHaveLength(1003);
    expect(sizes).toHaveLength(101);
    expect(Math.max(...sizes)).toBe(10);
    expect([most > 1, most <= 16]).toEqual([true, true]);
  });

  it('goes on with the others if one fails', async () => {
    const refusal = fault('denied');
    const remove = ([one]: readonly { nodeToken: string }[]) =>
      one?.nodeToken === 't5' ? Promise.reject(refusal) : Promise.resolve();
    const { removed, failed } = await removeOrphans(found(40), SCOPE, context(), { remove });
    expect(removed).toHaveLength(39);
    expect(failed).toEqual([{ nodeToken: 't5', error: refusal }]);
  });

  it('finds the resources that cause the refusal of a call, and removes all others', async () => {
    const bad = new Set(['t3', 't77', 't998']);
    let calls = 0;
    const remove = (some: readonly { nodeToken: string }[]) => {
      calls += 1;
      return some.some(({ nodeToken }) => bad.has(nodeToken)) ? Promise.reject(fault('invalid')) : Promise.resolve();
    };
    const removal = { remove, maxPerCall: 500, mayBeCausedByOne: () => true };
    const { removed, failed } = await removeOrphans(found(1000), SCOPE, context(), removal);
    expect(removed).toHaveLength(997);
    expect(new Set(failed.map(({ nodeToken }) => nodeToken))).toEqual(bad);
    expect(calls).toBeLessThan(80);
  });

  it('does not split a call that failed for all, and limits the splits', async () => {
    let calls = 0;
    const remove = () => {
      calls += 1;
      return Promise.reject(fault('invalid'));
    };
    const once = await removeOrphans(found(500), SCOPE, context(), {
      remove,
      maxPerCall: 500,
      mayBeCausedByOne: () => false,
    });
    expect([once.failed.length, calls]).toEqual([500, 1]);
    const { failed } = await removeOrphans(found(5000), SCOPE, context(), {
      remove,
      maxPerCall: 500,
      mayBeCausedByOne: () => true,
    });
    expect(failed).toHaveLength(5000);
    expect(calls).toBeLessThan(300);
  });

  it('holds all calls back while the provider throttles, and gives up on a call that is always throttled', async () => {
    let open = false;
    const times: number[] = [];
    const remove = () => {
      times.push(performance.now());
      if (open) return Promise.resolve();
      open = true;
      return Promise.reject(fault('throttled', 300));
    };
    expect((await removeOrphans(found(1), SCOPE, context(), { remove })).removed).toEqual(['t0']);
    const [first = 0, second = 0] = times;
    // Timers may fire a millisecond early.
    expect(second - first).toBeGreaterThan(290);
    const always = () => Promise.reject(fault('throttled', 1));
    const { failed } = await removeOrphans(found(2), SCOPE, context(), { remove: always });
    expect(failed.map(({ error }) => error)).toEqual([fault('throttled', 1), fault('throttled', 1)]);
  });

  it('ends with its signal, and reports what it did not remove', async () => {
    const sweep = new AbortController();
    let calls = 0;
    const remove = async () => {
      calls += 1;
      if (calls === 20) sweep.abort();
      await new Promise((resolve) => setImmediate(resolve));
    };
    const { removed, failed } = await removeOrphans(found(5000), SCOPE, sweep, { remove });
    expect(removed.length).toBeLessThan(100);
    expect(removed.length + failed.length).toBe(5000);
    expect(failed.at(-1)?.error).toMatchObject({ code: 'SweepCut', kind: 'transient' });
    const put = { remove: () => Promise.reject(fault('throttled', 60_000)) };
    expect((await removeOrphans(found(1), SCOPE, context(50), put)).failed).toHaveLength(1);
  });
});

describe('mergeSweepResults', () => {
  it('reports a node as failed if one part of the sweep failed for it', () => {
    const failure = { nodeToken: 'b', error: fault('denied') };
    expect(mergeSweepResults({ removed: ['a', 'b'], failed: [] }, { removed: ['a', 'c'], failed: [failure] })).toEqual({
      removed: ['a', 'c'],
      failed: [failure],
    });
  });
});
