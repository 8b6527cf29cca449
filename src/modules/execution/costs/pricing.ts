import type { PricedPeriod } from '../billing';
import type { SumsRow, UnusedRow } from './cost-sums.joins';
import type { Cost, Pricing, UnusedMemory } from './dto/cost.dto';

/** Returns the cost that a row says. What has no time costs nothing in the present currency, if there is a price. */
export function costOf(row: SumsRow, prices: readonly PricedPeriod[]): Cost {
  const pricing = pricingOf(row, prices);
  const isPriced = pricing === 'PRICED';
  return {
    node_ms: row.node_ms,
    ycu: Number(row.ycu),
    pricing,
    amount: isPriced ? Number(row.amount) : null,
    currency: isPriced ? (row.currency ?? prices.at(-1)?.currency ?? null) : null,
  };
}

/** Returns what the runs of a row requested and did not use. */
export function unusedOf(row: UnusedRow, prices: readonly PricedPeriod[]): UnusedMemory {
  return {
    measured_ms: row.measured_ms,
    gib_hours: Number(row.unused_gib_hours),
    ycu: Number(row.unused_ycu),
    amount: pricingOf(row, prices) === 'PRICED' ? Number(row.unused_amount) : null,
  };
}

function pricingOf({ unpriced, priced, currencies }: SumsRow, prices: readonly PricedPeriod[]): Pricing {
  if (prices.length === 0 || (priced === 0 && unpriced > 0)) return 'NO_PRICE';
  if (unpriced > 0) return 'PARTLY_PRICED';
  return currencies > 1 ? 'SEVERAL_CURRENCIES' : 'PRICED';
}
