import { Listings } from './listings';

describe('Listings', () => {
  let now = 0;
  let listings: Listings;

  beforeEach(() => {
    now = 1_000;
    listings = new Listings(() => now);
  });

  const counted = () => {
    let count = 0;
    return jest.fn(() => Promise.resolve([++count]));
  };
  const get = async (read: () => Promise<readonly number[]>, isAnew = false, key = 'a') =>
    (await listings.get(key, read, isAnew)).slice();

  it('answers a fresh list without reading it again', async () => {
    const read = counted();
    expect(await get(read)).toEqual([1]);
    now += 59_000;
    expect(await get(read)).toEqual([1]);
    expect(read).toHaveBeenCalledTimes(1);
  });

  it('answers an older one at once and reads it behind the answer', async () => {
    const read = counted();
    await get(read);
    now += 61_000;
    expect(await get(read)).toEqual([1]);
    await Promise.resolve();
    expect(await get(read)).toEqual([2]);
    expect(read).toHaveBeenCalledTimes(2);
  });

  it('reads one that is too old before it answers', async () => {
    const read = counted();
    await get(read);
    now += 601_000;
    expect(await get(read)).toEqual([2]);
  });

  it('keeps what it has when reading fails behind an answer, and says so to who waits', async () => {
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

  it('reads a list once for all who ask at once', async () => {
    const read = counted();
    expect(await Promise.all([get(read), get(read), get(read)])).toEqual([[1], [1], [1]]);
    expect(read).toHaveBeenCalledTimes(1);
  });

  it('reads anew after the call, once for all who ask for that meanwhile', async () => {
    const read = counted();
    const early = get(read);
    const anew = [get(read, true), get(read, true)];
    expect([await early, ...(await Promise.all(anew))]).toEqual([[1], [2], [2]]);
    expect(read).toHaveBeenCalledTimes(2);
  });

  it('reads anew though the reading before failed', async () => {
    const early = get(() => Promise.reject(new Error('gone')));
    const anew = get(counted(), true);
    await expect(early).rejects.toThrow('gone');
    expect(await anew).toEqual([1]);
  });

  it('knows lists by their whole key', async () => {
    const read = counted();
    expect([await get(read), await get(read, false, 'b')]).toEqual([[1], [2]]);
  });

  it('keeps no more than its bound: the list asked for longest ago goes first', async () => {
    const large = jest.fn(() => Promise.resolve(['x'.repeat(24 * 1024 * 1024)]));
    for (const key of ['1', '2', '3', '4', '5', '6']) await listings.get(key, large);
    await listings.get('6', large);
    expect(large).toHaveBeenCalledTimes(6);
    await listings.get('1', large);
    expect(large).toHaveBeenCalledTimes(7);
  });
});
