import type { Params } from '../../../platform/kernel/persistence/sql';
import { HOUR, type PricedPeriod, rounded, SIX_DECIMALS } from '../billing';

/** Hours of a GiB in milliseconds of a MiB. */
const GIB_HOUR = '3686400000::numeric';

/** Returns a common table expression `prices` of what a compute unit costs from a day on. */
export function pricesOf(prices: readonly PricedPeriod[], params: Params): string {
  const column = (value: (price: PricedPeriod) => string) => params.add(prices.map(value));
  return `prices AS (SELECT * FROM unnest(${column(({ from }) => from)}::date[], ${column(({ until }) => until)}::date[],
    ${column(({ price }) => price)}::numeric[], ${column(({ currency }) => currency)}::text[])
    AS p (priced_from, priced_until, unit_price, currency))`;
}

/** Joins the price of the day of a row, if there is one. */
export const PRICED = 'LEFT JOIN prices ON usage_date >= priced_from AND usage_date < priced_until';

/** Sums of rows with `ms`, `ycu_ms`, `unit_price` and `currency`. Nothing is divided before everything is added up. */
export const SUMS = `coalesce(sum(ms), 0)::bigint AS node_ms, ${rounded('coalesce(sum(ycu_ms), 0)', HOUR, SIX_DECIMALS)} AS ycu,
  count(*) FILTER (WHERE unit_price IS NULL) AS unpriced, count(unit_price) AS priced,
  count(DISTINCT currency) AS currencies, max(currency) AS currency,
  ${rounded('coalesce(sum(ycu_ms * unit_price), 0)', HOUR, SIX_DECIMALS)} AS amount`;

/** Sums of rows with `measured_ms`, `unused_mb_ms`, `unused_ycu_ms` and `unit_price`: what runs requested and did not use. */
export const UNUSED_SUMS = `coalesce(sum(measured_ms), 0)::bigint AS measured_ms,
  ${rounded('coalesce(sum(unused_mb_ms), 0)', GIB_HOUR, SIX_DECIMALS)} AS unused_gib_hours,
  ${rounded('coalesce(sum(unused_ycu_ms), 0)', HOUR, SIX_DECIMALS)} AS unused_ycu,
  ${rounded('coalesce(sum(unused_ycu_ms * unit_price), 0)', HOUR, SIX_DECIMALS)} AS unused_amount`;

/** A row of {@link SUMS} and {@link UNUSED_SUMS}. Decimals are texts. */
export interface UnusedRow extends SumsRow {
  measured_ms: number;
  unused_gib_hours: string;
  unused_ycu: string;
  unused_amount: string;
}

/** A row of {@link SUMS}. Decimals are texts. */
export interface SumsRow {
  node_ms: number;
  ycu: string;
  unpriced: number;
  priced: number;
  currencies: number;
  currency: string | null;
  amount: string;
}
