import { PackedList } from './packed-list';

const tables = Array.from({ length: 250 }, (_, index) => ({
  name: `tablé "${index}"`,
  at: index === 3 ? null : index,
}));

describe('PackedList', () => {
  it('returns its records', () => {
    const list = PackedList.of(tables);
    expect(list).toHaveLength(250);
    expect(list.slice()).toEqual(tables);
  });

  it.each([
    [0, 0],
    [0, 1],
    [100, 200],
    [240, 300],
    [300, 400],
  ])('returns the records from %d to %d', (from, to) => {
    expect(PackedList.of(tables).slice(from, to)).toEqual(tables.slice(from, to));
  });

  it('has the size of its encoded records', () => {
    const bytes = tables.reduce((sum, table) => sum + Buffer.byteLength(JSON.stringify(table)), 0);
    expect(PackedList.of(tables).size).toBe(bytes + 250 * 4);
    expect(PackedList.of([]).slice()).toEqual([]);
  });
});
