import { Coalesced } from './coalesced';

describe('coalesced work', () => {
  let begun: string[];
  let ends: (() => void)[];
  let work: Coalesced<string>;

  beforeEach(() => {
    begun = [];
    ends = [];
    work = new Coalesced((key) => {
      begun.push(key);
      return new Promise((resolve) => ends.push(resolve));
    });
  });

  const settled = () => new Promise(setImmediate);

  it('serves all calls that come during a pass with one more pass', async () => {
    const done: string[] = [];
    void work.run('a').then(() => done.push('first'));
    for (const name of ['second', 'third']) void work.run('a').then(() => done.push(name));
    expect(begun).toEqual(['a']);
    ends[0]?.();
    await settled();
    expect([begun, done]).toEqual([['a', 'a'], ['first']]);
    void work.run('a').then(() => done.push('fourth'));
    ends[1]?.();
    await settled();
    expect([begun.length, done]).toEqual([3, ['first', 'second', 'third']]);
    ends[2]?.();
    await settled();
    expect(done.at(-1)).toBe('fourth');
  });

  it('begins at once for another key, and again after the last has ended', async () => {
    void work.run('a');
    void work.run('b');
    expect(begun).toEqual(['a', 'b']);
    ends[0]?.();
    await settled();
    void work.run('a');
    expect(begun).toEqual(['a', 'b', 'a']);
  });
});
