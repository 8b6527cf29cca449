import { pricedPeriods } from './unit-prices';

describe('pricedPeriods', () => {
  it('applies each price until the next one, and the last one forever', () => {
    const prices = [
      { from: '2026-01-01', price: '0.05', currency: 'USD' },
      { from: '2026-07-01', price: '6', currency: 'JPY' },
      { from: '2027-01-01', price: '0.015', currency: 'KWD' },
    ];
    expect(pricedPeriods(prices)).toEqual([
      { ...prices[0], until: '2026-07-01', decimals: 2 },
      { ...prices[1], until: '2027-01-01', decimals: 0 },
      { ...prices[2], until: 'infinity', decimals: 3 },
    ]);
    expect(pricedPeriods([])).toEqual([]);
  });
});
