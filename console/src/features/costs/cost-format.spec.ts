import type { Cost } from 'managed-spark/types';
import { gibHoursText, hoursOf, measureOf, percentText, unusedText } from './cost-format';

const cost = (amount: number | null, ycu = 1, hours = 1): Cost => ({
  node_ms: hours * 3_600_000,
  ycu,
  pricing: amount === null ? 'NO_PRICE' : 'PRICED',
  amount,
  currency: amount === null ? null : 'EUR',
});

describe('costs as texts', () => {
  it('have as many decimals as the largest of them needs', () => {
    expect(measureOf(cost(1234.5)).text(cost(0.044))).toBe('€0.04');
    expect(measureOf(cost(2)).text(cost(0.044))).toBe('€0.0440');
    expect(measureOf(cost(0.05)).text(cost(0.000034))).toBe('€0.000034');
    expect(measureOf(cost(0)).text(cost(0))).toBe('€0.00');
    expect(hoursOf(cost(1, 1, 0.05))(cost(1, 1, 0.05))).toBe('0.050000');
  });

  it('are compute units if not all has a price', () => {
    const measure = measureOf(cost(null, 12));
    expect([measure.currency, measure.text(cost(3, 1.5)), measure.valueOf(cost(3, 1.5))]).toEqual([null, '1.50', 1.5]);
  });

  it('say what unused memory cost, or its part of the units', () => {
    const unused = { measured_ms: 1, gib_hours: 1.5, ycu: 0.5, amount: 0.044 };
    expect(unusedText(unused, measureOf(cost(2)))).toBe('€0.0440');
    expect(unusedText({ ...unused, amount: null }, measureOf(cost(null, 12)))).toBe('0.50 compute units');
    expect(gibHoursText(unused)).toBe('1.5000 GiB hours');
  });

  it.each([
    [1, 3, '33.3'],
    [0, 3, '0.0'],
    [1, 10_000, '<0.1'],
    [0, 0, '0.0'],
  ])('say that %d of %d is %s percent', (part, whole, text) => expect(percentText(part, whole)).toBe(text));
});
