import { Conditions } from './sql';

describe('a condition that a column contains a text', () => {
  const contains = (text: string) => new Conditions().addContains('t.name', text);

  it.each(['abc', 'x-123', 'äöü'])('can use the index for %j', (text) => {
    expect(contains(text).sql).toBe('(t.name ILIKE $1)');
  });

  it.each(['ab', 'a-b-c', '%%%', '___'])('cannot use the index for %j, which has no trigram', (text) => {
    expect(contains(text).sql).toBe(`((t.name || '') ILIKE $1)`);
  });

  it('takes wildcards literally', () => {
    expect(contains('50%_\\').params).toEqual(['%50\\%\\_\\\\%']);
  });
});

describe('conditions on the columns of an entity', () => {
  class Thing {
    thing_id: number;
    kind: 'a' | 'b' | null;
  }
  const conditions = () => new Conditions<Thing>();

  it('match one value, or any of a list, which may be empty', () => {
    expect(conditions().only('kind', 'a').only('thing_id', []).sql).toBe('(t.kind = $1) AND (t.thing_id = ANY($2))');
    expect(conditions().only('kind', ['a', 'b']).params).toEqual([['a', 'b']]);
  });

  it('are TRUE if nothing is requested', () => {
    expect(conditions().only('kind', undefined).onlyEnabled(undefined).sql).toBe('TRUE');
  });

  it('accept no column that the entity lacks, and no value of another type', () => {
    // @ts-expect-error the entity has no such column
    conditions().only('name', 'a');
    // @ts-expect-error ids are numbers
    conditions().only('thing_id', 'a');
  });
});
