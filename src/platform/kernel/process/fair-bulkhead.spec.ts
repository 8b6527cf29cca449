import { FairBulkhead } from './fair-bulkhead';

const BUSY = { kind: 'overloaded', code: 'TEST.BUSY', details: { retry_after_seconds: 5 } };

describe('a bulkhead', () => {
  let done: string[];
  let release: Map<string, () => void>;
  let bulkhead: FairBulkhead;

  beforeEach(() => {
    done = [];
    release = new Map();
    bulkhead = new FairBulkhead({
      code: 'TEST.BUSY',
      maxConcurrent: 1,
      maxQueued: 4,
      maxQueuedPerParty: 3,
      queueTimeoutMs: 5_000,
    });
  });

  /** Starts work of a party that lasts until it is released. */
  const work = (party: string, name: string) =>
    bulkhead.run(party, async () => {
      await new Promise<void>((resolve) => release.set(name, resolve));
      done.push(name);
    });

  /** Ends one piece of work after the other, in the order in which they begin. */
  async function runAll(): Promise<void> {
    for (let next = [...release]; next.length > 0; next = [...release]) {
      expect(next).toHaveLength(1);
      for (const [name, end] of next) {
        release.delete(name);
        end();
      }
      await new Promise(setImmediate);
    }
  }

  it('lets parties take turns, regardless of which came first', async () => {
    const all = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) => work(name.charAt(0), name));
    await runAll();
    await Promise.all(all);
    expect(done).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
  });

  it("refuses work beyond a party's share of the queue, and says when to try again", async () => {
    const taken = ['a1', 'a2', 'a3', 'a4'].map((name) => work('a', name));
    await expect(work('a', 'a5')).rejects.toMatchObject(BUSY);
    const other = work('b', 'b1');
    await runAll();
    await Promise.all([...taken, other]);
    expect(done).toHaveLength(5);
  });

  it('gives places of a full queue to parties that have fewer', async () => {
    const first = work('a', 'a1');
    const early = ['a2', 'a3', 'a4'].map((name) => work('a', name));
    const [b1, c1] = [work('b', 'b1'), work('c', 'c1')];
    await expect(early[2]).rejects.toMatchObject(BUSY);
    const d1 = work('d', 'd1');
    await expect(early[1]).rejects.toMatchObject(BUSY);
    await expect(work('e', 'e1')).rejects.toMatchObject(BUSY);
    await runAll();
    await Promise.all([first, early[0], b1, c1, d1]);
    expect(done).toEqual(['a1', 'a2', 'b1', 'c1', 'd1']);
  });

  it('refuses work that has waited too long, and frees its place', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    try {
      const first = work('a', 'a1');
      const late = expect(work('a', 'a2')).rejects.toMatchObject(BUSY);
      jest.advanceTimersByTime(5_000);
      await late;
      const next = work('a', 'a3');
      await runAll();
      await Promise.all([first, next]);
      expect(done).toEqual(['a1', 'a3']);
    } finally {
      jest.useRealTimers();
    }
  });

  it('frees the place of work that fails', async () => {
    await expect(bulkhead.run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await bulkhead.run('a', () => Promise.resolve('done'))).toBe('done');
  });
});
