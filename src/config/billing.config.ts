import type { EnvReader } from './env-reader';

/** The price of a compute unit from a day on, until the next price. */
export interface UnitPrice {
  /** Day (UTC) from whose beginning the price holds, `2026-01-31`. */
  from: string;
  /** Decimal, as it was configured. */
  price: string;
  /** ISO 4217. */
  currency: string;
}

export interface BillingConfig {
  /** Sorted by day; empty if nothing is invoiced. */
  unitPrices: UnitPrice[];
}

const EXAMPLE = '2026-01-01:0.05:USD,2026-07-01:0.06:USD';
const FORM = `must be a list of day:price:currency, such as ${EXAMPLE}`;
const PRICE = /^\d{1,9}(\.\d{1,9})?$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

export function readBillingConfig(reader: EnvReader): BillingConfig {
  const env = reader.section('Billing', '[Billing](billing.md) says how usage is counted.');
  const prices = env.list('BILLING_UNIT_PRICES', {
    allowed: 'comma-separated list of `day:price:currency`, currencies as in ISO 4217',
    defaultText: 'usage is reported, and nothing is invoiced',
    example: EXAMPLE,
    readBy: ['API'],
    description: 'Price of a compute unit, each from the beginning of its day (UTC) until the next one.',
  });
  const entries = prices.map((entry) => entry.split(':'));
  const unitPrices = entries.map(([from = '', price = '', currency = '']) => ({ from, price, currency }));
  const problem =
    (entries.some((parts) => parts.length !== 3) && FORM) || unitPrices.map(problemOf).find((each) => each !== null);
  if (problem) env.problem('BILLING_UNIT_PRICES', problem);
  else if (new Set(unitPrices.map(({ from }) => from)).size < unitPrices.length)
    env.problem('BILLING_UNIT_PRICES', 'has two prices from the same day');
  return { unitPrices: unitPrices.sort((a, b) => (a.from < b.from ? -1 : 1)) };
}

/** Returns the price of a compute unit at a time; null if none is configured for it. */
export function unitPriceAt(prices: readonly UnitPrice[], at: Date): UnitPrice | null {
  const day = at.toISOString().slice(0, 10);
  return prices.findLast(({ from }) => from <= day) ?? null;
}

function problemOf({ from, price, currency }: UnitPrice): string | null {
  if (!isDay(from)) return `has a price whose day does not exist; it ${FORM}`;
  if (!PRICE.test(price)) return `has a price that is not a decimal of at most nine digits on each side of the point`;
  // The runtime must know the currency, because it also says into how many decimals it is divided.
  if (!Intl.supportedValuesOf('currency').includes(currency))
    return `has a price without a currency, or with an unknown one; it ${FORM}`;
  return null;
}

function isDay(text: string): boolean {
  if (!DAY.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text) && text >= '0001';
}
