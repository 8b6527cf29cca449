import { type BillingConfig, readBillingConfig } from './billing.config';
import { ConfigurationError, EnvReader } from './env-reader';

function read(prices?: string): BillingConfig | readonly string[] {
  const env = new EnvReader(prices === undefined ? {} : { BILLING_UNIT_PRICES: prices });
  const config = readBillingConfig(env);
  try {
    env.assertValid();
    return config;
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

describe('readBillingConfig', () => {
  it('has no prices by default', () => {
    expect(read()).toEqual({ unitPrices: [] });
  });

  it('sorts prices by their days and keeps their digits', () => {
    expect(read('2026-07-01:0.060:USD, 2026-01-01:0.05:EUR')).toEqual({
      unitPrices: [
        { from: '2026-01-01', price: '0.05', currency: 'EUR' },
        { from: '2026-07-01', price: '0.060', currency: 'USD' },
      ],
    });
  });

  it.each([
    ['a missing currency', '2026-01-01:0.05', 'must be a list of day:price:currency'],
    ['an empty currency', '2026-01-01:0.05:', 'without a currency'],
    ['an unknown currency', '2026-01-01:0.05:ABC', 'without a currency'],
    ['a currency in small letters', '2026-01-01:0.05:usd', 'without a currency'],
    ['a day that does not exist', '2026-02-30:0.05:USD', 'whose day does not exist'],
    ['the year 0', '0000-01-01:0.05:USD', 'whose day does not exist'],
    ['a price in words', '2026-01-01:free:USD', 'not a decimal'],
    ['a negative price', '2026-01-01:-1:USD', 'not a decimal'],
    ['an exponent', '2026-01-01:5e-2:USD', 'not a decimal'],
    ['a decimal comma', '2026-01-01:0,05:USD', 'must be a list'],
    ['two prices of one day', '2026-01-01:0.05:USD,2026-01-01:0.06:USD', 'two prices from the same day'],
    ['a fourth part', '2026-01-01:0.05:USD:x', 'must be a list'],
  ])('refuses %s', (_what, prices, problem) => {
    expect(read(prices)).toEqual([expect.stringContaining(problem)]);
    expect(read(prices)).toEqual([expect.stringMatching(/^BILLING_UNIT_PRICES /)]);
  });
});
