import type { Logger } from '../../../platform/kernel/logging/logger';
import type { ClusterNodesService } from '../../execution/clusters';
import { HeartbeatBatcher } from './heartbeat-batcher';

/** Returns a batcher and what it records, in order. A statement ends when the test ends it. */
function fakeBatcher(locked: readonly number[] = []) {
  const batches: number[][] = [];
  const single: number[] = [];
  const waiting: { end: () => void; fail: () => void }[] = [];
  const nodes = {
    recordHeartbeats: (nodeIds: readonly number[]) => {
      batches.push([...nodeIds]);
      return new Promise<number[]>((resolve, reject) => {
        waiting.push({ end: () => resolve([...locked]), fail: () => reject(new Error('The database is away')) });
      });
    },
    recordHeartbeat: (nodeId: number) => {
      single.push(nodeId);
      return Promise.resolve();
    },
  };
  const warned: string[] = [];
  const logger = { warn: (_: unknown, text: string) => warned.push(text) };
  const batcher = new HeartbeatBatcher(nodes as unknown as ClusterNodesService, logger as unknown as Logger);
  const next = async () => {
    const statement = waiting.shift();
    if (!statement) throw new Error('Nothing is being recorded');
    return statement;
  };
  return { batcher, batches, single, warned, next };
}

describe('HeartbeatBatcher', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const flushPromises = () => jest.advanceTimersByTimeAsync(0);

  it('records all heartbeats of a second in one statement', async () => {
    const { batcher, batches } = fakeBatcher();
    batcher.add(1);
    await jest.advanceTimersByTimeAsync(600);
    batcher.add(2);
    batcher.add(1);
    await jest.advanceTimersByTimeAsync(399);
    expect(batches).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(batches).toEqual([[1, 2]]);
  });

  it('records a batch immediately if a caller waits for it', async () => {
    const { batcher, batches, next } = fakeBatcher();
    batcher.add(1);
    const done = jest.fn();
    void batcher.add(2).recorded().then(done);
    await flushPromises();
    expect(batches).toEqual([[1, 2]]);
    expect(done).not.toHaveBeenCalled();
    (await next()).end();
    await flushPromises();
    expect(done).toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(5_000);
    expect(batches).toHaveLength(1);
  });

  it('collects heartbeats during a statement for the next one', async () => {
    const { batcher, batches, next } = fakeBatcher();
    void batcher.add(1).recorded();
    await flushPromises();
    void batcher.add(2).recorded();
    void batcher.add(3).recorded();
    await flushPromises();
    expect(batches).toEqual([[1]]);
    (await next()).end();
    await flushPromises();
    expect(batches).toEqual([[1], [2, 3]]);
  });

  it('waits only for a locked node that is awaited, and adds others again', async () => {
    const { batcher, batches, single, next } = fakeBatcher([1]);
    batcher.add(1);
    const done = jest.fn();
    void batcher.add(2).recorded().then(done);
    await flushPromises();
    (await next()).end();
    await flushPromises();
    expect(done).toHaveBeenCalled();
    expect(single).toEqual([]);
    const { recorded } = batcher.add(1);
    void recorded();
    await flushPromises();
    expect(batches).toEqual([[1, 2], [1]]);
    (await next()).end();
    await flushPromises();
    expect(single).toEqual([1]);
  });

  it('records nodes one by one after a failed batch, and logs a failure that nobody awaits', async () => {
    const { batcher, single, warned, next } = fakeBatcher();
    void batcher.add(1).recorded();
    await flushPromises();
    (await next()).fail();
    await flushPromises();
    expect(single).toEqual([1]);
    batcher.add(2);
    await jest.advanceTimersByTimeAsync(1_000);
    (await next()).fail();
    await flushPromises();
    expect(warned).toHaveLength(1);
  });
});
