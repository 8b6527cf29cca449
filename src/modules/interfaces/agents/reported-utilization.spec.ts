import type { NodeUtilization } from '../../../../libs/contracts/agent-protocol';
import type { Logger } from '../../../platform/kernel/logging/logger';
import type { ClusterMetricsService } from '../../execution/clusters';
import { ReportedUtilization } from './reported-utilization';

const using = (millicores: number): NodeUtilization => ({
  millicores: { average: millicores, max: millicores },
  memory_mb: { average: 1, max: 1 },
  disk_mb: { average: 1, max: 1, total: 2 },
});

describe('ReportedUtilization', () => {
  let reported: ReportedUtilization;
  let recorded: Record<number, number>[];
  let warned: string[];
  let wait: () => Promise<void>;

  beforeEach(() => {
    jest.useFakeTimers();
    [recorded, warned, wait] = [[], [], () => Promise.resolve()];
    const record = (reports: ReadonlyMap<number, NodeUtilization>) => {
      recorded.push(Object.fromEntries([...reports].map(([node, { millicores }]) => [node, millicores.average])));
      return wait();
    };
    reported = new ReportedUtilization(
      { record } as unknown as ClusterMetricsService,
      { warn: (_: unknown, text: string) => warned.push(text) } as unknown as Logger,
    );
  });
  afterEach(() => jest.useRealTimers());

  it('records many nodes in one statement, with the last sample of each', async () => {
    for (let at = 0; at < 100; at += 1) reported.add(1, using(at));
    reported.add(2, using(7));
    await jest.advanceTimersByTimeAsync(4_999);
    expect(recorded).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(recorded).toEqual([{ 1: 99, 2: 7 }]);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(recorded).toHaveLength(1);
    reported.add(1, using(5));
    await jest.advanceTimersByTimeAsync(5_000);
    expect(recorded[1]).toEqual({ 1: 5 });
  });

  it('limits the nodes of a statement', async () => {
    for (let node = 0; node < 1_001; node += 1) reported.add(node, using(1));
    await jest.advanceTimersByTimeAsync(5_000);
    expect(recorded.map((nodes) => Object.keys(nodes).length)).toEqual([1_000, 1]);
  });

  it('runs one statement at a time, and continues after a failed one', async () => {
    let fail: () => void = () => undefined;
    wait = () => new Promise((_resolve, reject) => (fail = () => reject(new Error('The database is away'))));
    reported.add(1, using(1));
    await jest.advanceTimersByTimeAsync(5_000);
    reported.add(2, using(2));
    await jest.advanceTimersByTimeAsync(60_000);
    expect(recorded).toHaveLength(1);
    fail();
    await jest.advanceTimersByTimeAsync(0);
    expect(warned).toHaveLength(1);
    wait = () => Promise.resolve();
    await jest.advanceTimersByTimeAsync(5_000);
    expect(recorded[1]).toEqual({ 2: 2 });
  });
});
