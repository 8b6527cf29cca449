import { QueryClient } from '@tanstack/react-query';
import type { LiveEvent } from './live-stream';
import { Refresher } from './refresher';

const event = (id: number): LiveEvent => ({ kind: 'run', data: { job_id: id } });

describe('Refresher', () => {
  const queries = new QueryClient();
  const read = jest.fn((_id: number) => Promise.resolve('state'));
  const page = { visibilityState: 'visible' };

  beforeEach(async () => {
    jest.useFakeTimers();
    Object.assign(globalThis, { document: page });
    page.visibilityState = 'visible';
    for (const id of [1, 2]) {
      const options = {
        queryKey: ['run', id],
        queryFn: () => read(id),
        meta: { isChangedBy: ({ data }: LiveEvent) => data.job_id === id },
      };
      const observed = queries.getQueryCache().build(queries, options);
      await queries.prefetchQuery(options);
      // A query without observers is not shown, so it would not be read again.
      Object.assign(observed, { isActive: () => true, isDisabled: () => false });
    }
    read.mockClear();
  });

  afterEach(() => {
    queries.clear();
    jest.useRealTimers();
    Reflect.deleteProperty(globalThis, 'document');
  });

  it('reads once what many events have changed, and nothing else', async () => {
    const refresher = new Refresher(queries);
    for (let count = 0; count < 50; count += 1) refresher.add(event(1));
    await jest.advanceTimersByTimeAsync(150);
    expect(read.mock.calls).toEqual([[1]]);
  });

  it('reads not more often than the pause allows, and nothing is forgotten', async () => {
    const refresher = new Refresher(queries);
    for (let ms = 0; ms < 3_000; ms += 10) {
      refresher.add(event(2));
      await jest.advanceTimersByTimeAsync(10);
    }
    const during = read.mock.calls.length;
    expect(during).toBeGreaterThan(3);
    expect(during).toBeLessThanOrEqual(6);
    refresher.add(event(1));
    await jest.advanceTimersByTimeAsync(2_000);
    expect(read).toHaveBeenCalledWith(1);
  });

  it('reads everything when too many events wait', async () => {
    const refresher = new Refresher(queries);
    for (let id = 100; id < 1_200; id += 1) refresher.add(event(id));
    await jest.advanceTimersByTimeAsync(150);
    expect(read.mock.calls).toEqual([[1], [2]]);
  });

  it('goes on after a reading that does not end', async () => {
    const refresher = new Refresher(queries);
    read.mockReturnValueOnce(new Promise<never>(() => undefined));
    refresher.add(event(1));
    await jest.advanceTimersByTimeAsync(200);
    refresher.add(event(2));
    await jest.advanceTimersByTimeAsync(11_000);
    expect(read).toHaveBeenLastCalledWith(2);
  });

  it('marks what a hidden page shows, and leaves the reading to the time when it is shown', async () => {
    page.visibilityState = 'hidden';
    new Refresher(queries).add(event(1));
    await jest.advanceTimersByTimeAsync(150);
    expect(read).not.toHaveBeenCalled();
    expect(queries.getQueryState(['run', 1])?.isInvalidated).toBe(true);
  });
});
