import type { UnitPrice } from '../../../config/billing.config';
import type { PricedPeriod } from './usage.repository';

/** Returns the configured prices, each until the next one, with the decimals of its currency. */
export function pricedPeriods(prices: readonly UnitPrice[]): PricedPeriod[] {
  return prices.map(({ from, price, currency }, index) => ({
    from,
    until: prices[index + 1]?.from ?? 'infinity',
    price,
    currency,
    decimals: decimalsOf(currency),
  }));
}

/** Returns the decimals of a currency: two for USD, none for JPY, three for KWD. */
function decimalsOf(currency: string): number {
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
}
