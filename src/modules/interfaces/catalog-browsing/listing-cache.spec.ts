import { ListingCache } from './listing-cache';

describe('ListingCache', () => {
  let now = 0;
  let listings: ListingCache;

  beforeEach(() => {
    now = 1_000;
    listings = new ListingCache(() => now);
  });

  const counted = () => {
    let count = 0;
    return jest.fn(() => Promise.resolve([++count]));
  };
  const get = async (read: () => Promise<readonly number[]>, refresh = false, key = 'a') =>
    (await listings.get(key, read, refresh)).slice();

  it('returns a fresh list without reading it again', async () => {
    const read = counted();
    expect(await get(read)).toEqual([1]);
    now += 59_000;
    expect(await get(read)).toEqual([1]);
    expect(read).toHaveBeenCalledTimes(1);
  });

  it('returns a stale list immediately and refreshes it in the background', async () => {
    const read = counted();
    await get(read);
    now += 61_000;
    expect(await get(read)).toEqual([1]);
    await Promise.resolve();
    expect(await get(read)).toEqual([2]);
    expect(read).toHaveBeenCalledTimes(2);
  });

  it('reads an expired list before it returns', async () => {
    const read = counted();
    await get(read);
    now += 601_000;
    expect(await get(read)).toEqual([2]);
  });

  it('keeps a stale list if the refresh fails, and rejects callers that wait for one', async () => {
    await get(counted());
    now += 61_000;
    const failing = jest.fn(() => Promise.reject(new Error('gone')));
    expect(await get(failing)).toEqual([1]);
    await Promise.resolve();
    expect(await get(failing)).toEqual([1]);
    await expect(get(failing, true)).rejects.toThrow('gone');
    now += 601_000;
    await expect(get(failing)).rejects.toThrow('gone');
  });

  it('reads a list once for concurrent callers', async () => {
    const read = counted();
    expect(await Promise.all([get(read), get(read), get(read)])).toEqual([[1], [1], [1]]);
    expect(read).toHaveBeenCalledTimes(1);
  });

  it('starts a refresh after the call, once for concurrent callers', async () => {
    const read = counted();
    const early = get(read);
    const refreshed = [get(read, true), get(read, true)];
    expect([await early, ...(await Promise.all(refreshed))]).toEqual([[1], [2], [2]]);
    expect(read).toHaveBeenCalledTimes(2);
  });

  it('refreshes although the previous read failed', async () => {
    const early = get(() => Promise.reject(new Error('gone')));
    const refreshed = get(counted(), true);
    await expect(early).rejects.toThrow('gone');
    expect(await refreshed).toEqual([1]);
  });

  it('distinguishes lists by their whole key', async () => {
    const read = counted();
    expect([await get(read), await get(read, false, 'b')]).toEqual([[1], [2]]);
  });

  it('evicts the least recently used list beyond its limit', async () => {
    const large = jest.fn(() => Promise.resolve(['x'.repeat(24 * 1024 * 1024)]));
    for (const key of ['1', '2', '3', '4', '5', '6']) await listings.get(key, large);
    await listings.get('6', large);
    expect(large).toHaveBeenCalledTimes(6);
    await listings.get('1', large);
    expect(large).toHaveBeenCalledTimes(7);
  });
});
