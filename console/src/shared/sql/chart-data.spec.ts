import { firstChoice, pointsOf } from './chart-data';

const COLUMNS = [
  { name: 'day', type: 'DATE' },
  { name: 'amount', type: 'DECIMAL' },
  { name: 'big', type: 'BIGINT' },
  { name: 'city', type: 'STRING' },
];
const ROWS = [
  ['2026-11-02', '2.5', 9_007_199_254_740_993n, 'Oslo'],
  ['2026-11-01', null, 1, 'Rome'],
];

describe('firstChoice', () => {
  it('draws numbers of one size over time', () => {
    expect(firstChoice(COLUMNS, ROWS)).toEqual({ x: 0, y: [1], kind: 'line' });
  });

  it('draws bars over texts, and nothing without numbers', () => {
    expect(
      firstChoice(
        COLUMNS.slice(1),
        ROWS.map((row) => row.slice(1)),
      ),
    ).toEqual({ x: 2, y: [0], kind: 'bar' });
    expect(firstChoice([{ name: 'city', type: 'STRING' }], [])).toBeNull();
  });
});

describe('pointsOf', () => {
  it('sorts by time, which counts as UTC, and keeps gaps', () => {
    expect(pointsOf(COLUMNS, ROWS, { x: 0, y: [1], kind: 'line' })).toEqual({
      xs: [Date.UTC(2026, 10, 1) / 1000, Date.UTC(2026, 10, 2) / 1000],
      ys: [[null, 2.5]],
      labels: null,
      isTime: true,
    });
    const times = pointsOf([{ name: 't', type: 'TIMESTAMP' }], [['2026-11-01 10:00:00.123456']], {
      x: 0,
      y: [],
      kind: 'line',
    });
    expect(times.xs).toEqual([Date.UTC(2026, 10, 1, 10, 0, 0, 123) / 1000]);
  });

  it('places texts in the order of the rows', () => {
    expect(pointsOf(COLUMNS, ROWS, { x: 3, y: [2], kind: 'bar' })).toMatchObject({
      xs: [0, 1],
      labels: ['Oslo', 'Rome'],
    });
  });
});
