import { Conditions } from './sql';

describe('a condition that a column contains a text', () => {
  const contains = (text: string) => new Conditions().addContains('t.name', text);

  it.each(['abc', 'x-123', 'äöü'])('leaves the index to %j', (text) => {
    expect(contains(text).sql).toBe('(t.name ILIKE $1)');
  });

  it.each(['ab', 'a-b-c', '%%%', '___'])('keeps the index from %j, which has no trigram', (text) => {
    expect(contains(text).sql).toBe(`((t.name || '') ILIKE $1)`);
  });

  it('takes wildcards literally', () => {
    expect(contains('50%_\\').params).toEqual(['%50\\%\\_\\\\%']);
  });
});
