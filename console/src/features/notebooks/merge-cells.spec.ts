import type { Cell } from './cells';
import { mergeCells } from './merge-cells';

/** Cells such as `a:text b`, where the text is the id if there is none. */
function cells(text: string): Cell[] {
  return text.split(' ').flatMap((part) => {
    const [id = '', source = id] = part.split(':');
    return id === '' ? [] : [{ id, type: 'code' as const, source }];
  });
}

function merged(base: string, mine: string, theirs: string) {
  const result = mergeCells({ base: cells(base), mine: cells(mine), theirs: cells(theirs) });
  return {
    sources: result.cells.map(({ source }) => source).join(' '),
    theirs: result.theirs.map(({ what }) => what).join(' '),
    ids: result.cells.map(({ id }) => id),
  };
}

describe('two changes of a notebook', () => {
  it.each([
    // base, mine, theirs, both, what they did
    ['a b', 'a:1 b', 'a b:2', '1 2', 'edited'],
    ['a b', 'a b x', 'a y b', 'a y b x', 'added'],
    ['a b', 'a b', 'a', 'a', 'removed'],
    ['a b', 'a', 'a b', 'a', ''],
    ['a b', 'a', 'a b:2', 'a 2', 'edited'],
    ['a b', 'a b:1', 'a', 'a 1', ''],
    ['a b c', 'c a b', 'a b:2 c', 'c a 2', 'edited'],
    ['a b c', 'a:1 b c', 'c b a', 'c b 1', ''],
    ['a b', 'x a b', 'y a b', 'y x a b', 'added'],
    ['', 'x', 'y', 'y x', 'added'],
    ['a', 'a:1', 'a:1', '1', ''],
  ])('of %j, %j and %j, become %j', (base, mine, theirs, sources, what) => {
    expect(merged(base, mine, theirs)).toMatchObject({ sources, theirs: what });
  });

  it('of the same cell leave both, mine under its id', () => {
    const { sources, ids, theirs } = merged('a b', 'a:mine b', 'a:theirs b');
    expect([sources, theirs]).toEqual(['mine theirs b', 'both']);
    expect([ids[0], ids[2]]).toEqual(['a', 'b']);
    expect(ids[1]).toMatch(/^[0-9a-f]{16}$/);
  });

  it('never lose a text that either side has added or changed', () => {
    const names = ['a', 'b', 'c', 'd'];
    const pick = (seed: number) => names.filter((_, index) => (seed >> index) & 1);
    for (let seed = 0; seed < 16 * 16; seed += 1) {
      const mine = pick(seed & 15)
        .map((id, at) => (at % 2 ? `${id}:m${id}` : id))
        .join(' ');
      const theirs = pick(seed >> 4)
        .toReversed()
        .map((id, at) => (at % 2 ? `${id}:t${id}` : id))
        .join(' ');
      const sources = new Set(merged('a b c d', `${mine} mx`, `tx ${theirs}`).sources.split(' '));
      for (const { source } of [...cells(`${mine} mx`), ...cells(`tx ${theirs}`)])
        if (source.length > 1) expect([seed, sources.has(source)]).toEqual([seed, true]);
    }
  });
});
