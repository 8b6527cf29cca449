import { daysOf, intervalsOf, intervalsSearch, periodOf, readCostsSearch } from './costs-search';

describe('the address of costs', () => {
  const now = new Date('2026-03-15T23:59:59Z');

  it.each([
    [{}, '2026-02-14', '2026-03-15', '30d'],
    [{ period: '7d' }, '2026-03-09', '2026-03-15', '7d'],
    [{ period: 'this-month' }, '2026-03-01', '2026-03-15', 'this-month'],
    [{ period: 'last-month' }, '2026-02-01', '2026-02-28', 'last-month'],
    [{ from: '2026-01-05', to: '2026-01-06', period: '7d' }, '2026-01-05', '2026-01-06', null],
    [{ from: '2026-01-05' }, '2026-01-05', '2026-03-15', null],
    [{ to: '2026-01-05' }, '2026-01-05', '2026-01-05', null],
  ] as const)('means the days of UTC that %j says', (search, from, to, name) => {
    expect(periodOf(search, now)).toEqual({ from, to, name });
  });

  it('says the last month in January', () => {
    expect(periodOf({ period: 'last-month' }, new Date('2026-01-31T00:00:00Z'))).toEqual({
      from: '2025-12-01',
      to: '2025-12-31',
      name: 'last-month',
    });
  });

  it('has every day of a period, and none of one that ends before it begins', () => {
    expect(daysOf({ from: '2026-02-27', to: '2026-03-02' })).toEqual([
      '2026-02-27',
      '2026-02-28',
      '2026-03-01',
      '2026-03-02',
    ]);
    expect(daysOf({ from: '2026-03-02', to: '2026-02-27' })).toEqual([]);
  });

  it('leaves out what is no filter', () => {
    const search = { from: '2026-02-30', to: '0026-03-01', by: 'moon', workspace: 'x', cluster: '7', period: '' };
    expect(readCostsSearch(search)).toEqual({ cluster: 7 });
    const good = { from: '2026-02-28', to: '2026-03-01', by: 'run', run: '17', in: '3' };
    expect(readCostsSearch(good)).toEqual({ from: '2026-02-28', to: '2026-03-01', by: 'run', run: 17, in: 3 });
  });

  it.each([
    ['the period', {}, { intervals: 'all' }, { from: '2026-03-01', to: '2026-03-31', cluster: 7 }],
    ['a day', { day: '2026-03-02' }, { intervals: '2026-03-02' }, { from: '2026-03-02', to: '2026-03-02', cluster: 7 }],
    ['a cluster', { cluster: 9 }, { intervals: 'all', of: 9 }, { from: '2026-03-01', to: '2026-03-31', cluster: 9 }],
  ])('keeps the intervals of %s', (_what, line, search, sum) => {
    expect(intervalsSearch(line)).toEqual(search);
    expect(readCostsSearch({ ...search })).toEqual(search);
    const period = { from: '2026-03-01', to: '2026-03-31', name: null };
    expect(intervalsOf({ ...search, cluster: 7 }, period)).toEqual(sum);
    expect(intervalsOf({ cluster: 7 }, period)).toBeNull();
    expect(readCostsSearch({ intervals: 'some', of: 'x' })).toEqual({});
  });
});
