import type { Tx } from '../persistence/sql';
import { changesOf, noteChange } from './record-changes';

describe('changesOf', () => {
  const note = (tx: Tx, id: number, columns: number) => {
    const row = (value: number) => Object.fromEntries(Array.from({ length: columns }, (_, n) => [`c${n}`, value]));
    noteChange(tx, { label: 'mount', id, tenantId: null, before: row(0), after: row(1), hidden: [] });
  };

  it('belongs to one transaction', () => {
    const [tx, other] = [{} as Tx, {} as Tx];
    note(tx, 1, 1);
    expect(changesOf(tx)).toMatchObject({
      records: [{ record: 'mount 1', fields: [{ field: 'c0', before: '0', after: '1' }] }],
    });
    expect(changesOf(other)).toBeNull();
  });

  it('has at most 32 fields of all records, and counts those that it leaves out', () => {
    const tx = {} as Tx;
    note(tx, 1, 30);
    note(tx, 2, 5);
    note(tx, 3, 1);
    note(tx, 4, 2);
    expect(changesOf(tx)?.records.map(({ fields, omitted }) => [fields.length, omitted])).toEqual([
      [30, 0],
      [2, 6],
    ]);
  });
});
