import type { Logger } from '../../../platform/kernel/logging/logger';
import type { ClusterNodesService } from '../../execution/clusters';
import { HeartbeatBatcher } from './heartbeat-batcher';

/** What is recorded, in order; a statement ends when the test says so. */
function heardNodes(locked: readonly number[] = []) {
  const together: number[][] = [];
  const alone: number[] = [];
  const waiting: { end: () => void; fail: () => void }[] = [];
  const nodes = {
    recordHeartbeats: (nodeIds: readonly number[]) => {
      together.push([...nodeIds]);
      return new Promise<number[]>((resolve, reject) => {
        waiting.push({ end: () => resolve([...locked]), fail: () => reject(new Error('The database is away')) });
      });
    },
    recordHeartbeat: (nodeId: number) => {
      alone.push(nodeId);
      return Promise.resolve();
    },
  };
  const warned: string[] = [];
  const logger = { warn: (_: unknown, text: string) => warned.push(text) };
  const heard = new HeartbeatBatcher(nodes as unknown as ClusterNodesService, logger as unknown as Logger);
  const next = async () => {
    const statement = waiting.shift();
    if (!statement) throw new Error('Nothing is being recorded');
    return statement;
  };
  return { heard, together, alone, warned, next };
}

describe('HeartbeatBatcher', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const settled = () => jest.advanceTimersByTimeAsync(0);

  it('records in one statement whoever was heard within a second', async () => {
    const { heard, together } = heardNodes();
    heard.note(1);
    await jest.advanceTimersByTimeAsync(600);
    heard.note(2);
    heard.note(1);
    await jest.advanceTimersByTimeAsync(399);
    expect(together).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(together).toEqual([[1, 2]]);
  });

  it('records at once what somebody waits for, with all that was heard before', async () => {
    const { heard, together, next } = heardNodes();
    heard.note(1);
    const done = jest.fn();
    void heard.note(2).recorded().then(done);
    await settled();
    expect(together).toEqual([[1, 2]]);
    expect(done).not.toHaveBeenCalled();
    (await next()).end();
    await settled();
    expect(done).toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(5_000);
    expect(together).toHaveLength(1);
  });

  it('collects what is heard while it records, and records it next', async () => {
    const { heard, together, next } = heardNodes();
    void heard.note(1).recorded();
    await settled();
    void heard.note(2).recorded();
    void heard.note(3).recorded();
    await settled();
    expect(together).toEqual([[1]]);
    (await next()).end();
    await settled();
    expect(together).toEqual([[1], [2, 3]]);
  });

  it('waits for a locked node alone, and notes it again for the others', async () => {
    const { heard, together, alone, next } = heardNodes([1]);
    heard.note(1);
    const done = jest.fn();
    void heard.note(2).recorded().then(done);
    await settled();
    (await next()).end();
    await settled();
    expect(done).toHaveBeenCalled();
    expect(alone).toEqual([]);
    const { recorded } = heard.note(1);
    void recorded();
    await settled();
    expect(together).toEqual([[1, 2], [1]]);
    (await next()).end();
    await settled();
    expect(alone).toEqual([1]);
  });

  it('records each alone where recording together fails, and says so where nobody waits', async () => {
    const { heard, alone, warned, next } = heardNodes();
    void heard.note(1).recorded();
    await settled();
    (await next()).fail();
    await settled();
    expect(alone).toEqual([1]);
    heard.note(2);
    await jest.advanceTimersByTimeAsync(1_000);
    (await next()).fail();
    await settled();
    expect(warned).toHaveLength(1);
  });
});
