import { correlationId, currentContext, runInContext } from '../context/request-context';
import { Pump, type PumpOptions } from './pump';

describe('a pump', () => {
  /** Functions that end the passes, in the order in which these began. */
  let passes: { end: (hasMore?: boolean) => void; fail: (error: Error) => void; signal: AbortSignal }[];
  let failures: unknown[];

  beforeEach(() => {
    jest.useFakeTimers();
    [passes, failures] = [[], []];
  });
  afterEach(() => jest.useRealTimers());

  const after = (ms: number) => jest.advanceTimersByTimeAsync(ms);

  function pumpOf(options: Omit<PumpOptions, 'failed'> = {}): Pump {
    const work = (signal: AbortSignal) =>
      new Promise<boolean>((resolve, reject) =>
        passes.push({ end: (hasMore = false) => resolve(hasMore), fail: reject, signal }),
      );
    return new Pump(work, { ...options, failed: (error) => failures.push(error) });
  }

  it('begins at once, and serves all wake-ups that come during a pass with one more pass', async () => {
    const pump = pumpOf();
    pump.wake();
    expect(passes).toHaveLength(1);
    for (let count = 0; count < 3; count += 1) pump.wake();
    await after(60_000);
    expect(passes).toHaveLength(1);
    passes[0]?.end();
    await after(0);
    expect(passes).toHaveLength(2);
    passes[1]?.end();
    await after(60_000);
    expect(passes).toHaveLength(2);
  });

  it('continues at once while there is more work', async () => {
    const pump = pumpOf({ minPauseMs: 1_000 });
    pump.wake();
    passes[0]?.end(true);
    await after(0);
    passes[1]?.end();
    await after(60_000);
    expect(passes).toHaveLength(2);
  });

  it('resolves a run when a pass has ended that began after it was called', async () => {
    const pump = pumpOf();
    const resolved: string[] = [];
    void pump.run().then(() => resolved.push('first'));
    void pump.run().then(() => resolved.push('second'));
    passes[0]?.end();
    await after(0);
    expect([resolved, pump.isIdle]).toEqual([['first'], false]);
    passes[1]?.fail(new Error('failed'));
    await after(0);
    expect([resolved, pump.isIdle]).toEqual([['first', 'second'], true]);
  });

  it('continues after a pass that failed', async () => {
    const pump = pumpOf({ intervalMs: 5_000 });
    pump.wake();
    passes[0]?.fail(new Error('failed'));
    await after(4_999);
    expect([failures, passes.length]).toEqual([[new Error('failed')], 1]);
    await after(1);
    expect(passes).toHaveLength(2);
    pump.wake();
    passes[1]?.fail(new Error('again'));
    await after(0);
    expect(passes).toHaveLength(3);
  });

  it('begins by itself after its interval, counted from the end of a pass', async () => {
    const pump = pumpOf({ intervalMs: 5_000 });
    pump.wake(1_000);
    await after(999);
    expect(passes).toHaveLength(0);
    await after(1);
    await after(20_000);
    expect(passes).toHaveLength(1);
    passes[0]?.end();
    await after(3_000);
    pump.wake();
    expect(passes).toHaveLength(2);
    passes[1]?.end();
    await after(4_999);
    expect(passes).toHaveLength(2);
    await after(1);
    expect(passes).toHaveLength(3);
  });

  it('begins at the earliest of the requested times', async () => {
    const pump = pumpOf();
    pump.wake(1_000);
    pump.wake(5_000);
    await after(500);
    pump.wake(100);
    await after(100);
    expect(passes).toHaveLength(1);
    passes[0]?.end();
    await after(60_000);
    expect(passes).toHaveLength(1);
  });

  it('pauses between passes, however often it is woken', async () => {
    const pump = pumpOf({ minPauseMs: 100 });
    for (let ms = 0; ms < 950; ms += 1) {
      pump.wake();
      passes.at(-1)?.end();
      await after(1);
    }
    expect(passes).toHaveLength(10);
  });

  it('stops when the current pass has ended, and begins no other', async () => {
    const pump = pumpOf({ intervalMs: 100 });
    const resolved: string[] = [];
    pump.wake();
    void pump.run().then(() => resolved.push('run'));
    void pump.stop().then(() => resolved.push('stopped'));
    pump.wake();
    await after(1_000);
    expect([resolved, passes[0]?.signal.aborted]).toEqual([[], true]);
    passes[0]?.end(true);
    await after(1_000);
    void pump.run().then(() => resolved.push('run later'));
    await after(1_000);
    expect([resolved, passes.length]).toEqual([['run', 'stopped', 'run later'], 1]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('may be woken by its own work', async () => {
    let left = 3;
    const pump = new Pump(() => {
      left -= 1;
      if (left > 0) pump.wake();
      return Promise.resolve();
    });
    pump.wake();
    expect(left).toBe(2);
    await after(0);
    expect(left).toBe(0);
  });

  it('works without a caller, under the correlation id of the request that woke it first', async () => {
    const seen: unknown[] = [];
    const pump = new Pump(
      () => {
        seen.push([correlationId(), currentContext()?.caller]);
        return Promise.resolve();
      },
      { intervalMs: 5_000 },
    );
    const caller = { kind: 'user', id: 1, tenantId: null } as const;
    for (const id of ['one', 'two', 'three'])
      runInContext({ correlationId: id, idempotency: null, caller }, () => pump.wake());
    await after(5_000);
    expect(seen).toEqual([
      ['one', undefined],
      ['two', undefined],
      ['none', undefined],
    ]);
  });
});
