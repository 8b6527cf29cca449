import type { NodeUse } from './node-meter';
import { UtilizationSampler } from './utilization-sampler';

const USE = { millicores: 100, memoryMb: 200, diskMb: 300, diskTotalMb: 1000 };

describe('UtilizationSampler', () => {
  let next: () => Promise<NodeUse>;
  let measured: number;
  let failures: string[];
  let ending: AbortController;
  let sampler: UtilizationSampler;

  beforeEach(() => {
    jest.useFakeTimers();
    [measured, failures, ending] = [0, [], new AbortController()];
    next = () => Promise.resolve(USE);
    const measure = () => {
      measured += 1;
      return next();
    };
    sampler = new UtilizationSampler({ measure }, ({ message }) => failures.push(message));
  });
  afterEach(() => {
    ending.abort();
    jest.useRealTimers();
  });

  const begin = async () => {
    void sampler.work(ending.signal);
    await jest.advanceTimersByTimeAsync(0);
  };

  it('returns average and maximum of the samples since the last call, in whole numbers', async () => {
    next = () => Promise.resolve({ ...USE, millicores: null });
    await begin();
    expect(sampler.take()).toBeNull();
    next = () => Promise.resolve(USE);
    await jest.advanceTimersByTimeAsync(250);
    next = () => Promise.resolve({ millicores: 301, memoryMb: 100.4, diskMb: 300, diskTotalMb: 900.4 });
    await jest.advanceTimersByTimeAsync(500);
    expect(sampler.take()).toEqual({
      millicores: { average: 201, max: 301 },
      memory_mb: { average: 150, max: 200 },
      disk_mb: { average: 300, max: 300, total: 900 },
    });
    expect(sampler.take()).toBeNull();
    next = () => Promise.resolve(USE);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(sampler.take()?.millicores).toEqual({ average: 100, max: 100 });
  });

  it('samples soon at first, then every fifteen seconds', async () => {
    await begin();
    await jest.advanceTimersByTimeAsync(15_000);
    expect(measured).toBe(6);
    await jest.advanceTimersByTimeAsync(15_000 * 4);
    expect(measured).toBe(10);
  });

  it('samples less often if measuring uses much of a processor', async () => {
    jest.spyOn(process, 'cpuUsage').mockReturnValue({ user: 60_000, system: 40_000 });
    await begin();
    await jest.advanceTimersByTimeAsync(65_000);
    expect(measured).toBe(7);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(measured).toBe(8);
  });

  it('continues when measuring fails, and reports that once', async () => {
    next = () => Promise.reject(new Error('no /proc'));
    await begin();
    await jest.advanceTimersByTimeAsync(3_000);
    expect(failures).toEqual(['no /proc']);
    expect(sampler.take()).toBeNull();
    next = () => Promise.resolve(USE);
    await jest.advanceTimersByTimeAsync(8_000);
    expect(sampler.take()).not.toBeNull();
  });
});
