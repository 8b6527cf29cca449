import type { Cost, UnusedMemory } from 'managed-spark/types';
import { commonTexts } from '../../shared/common-texts';
import { costTexts } from '../../shared/cost-texts';

const HOUR_MS = 3_600_000;

/** The measure of costs: money if all of a period has a price, else compute units. */
export interface Measure {
  currency: string | null;
  valueOf: (cost: Cost) => number;
  /** Returns a value as text. All values have the same number of decimals, so that they stand below each other. */
  format: (value: number) => string;
  text: (cost: Cost) => string;
}

/** @param largest the cost whose size decides the number of decimals */
export function measureOf(largest: Cost): Measure {
  const { pricing, currency } = largest;
  if (pricing !== 'PRICED' || currency === null) {
    return measured(null, ({ ycu }) => ycu, decimals(largest.ycu));
  }
  return measured(
    currency,
    ({ amount }) => amount ?? 0,
    decimals(largest.amount ?? 0, { style: 'currency', currency }),
  );
}

function measured(currency: string | null, valueOf: Measure['valueOf'], numbers: Intl.NumberFormat): Measure {
  const format = (value: number) => numbers.format(value);
  return { currency, valueOf, format, text: (cost) => format(valueOf(cost)) };
}

/** Returns a format of node hours for costs up to the largest. */
export function hoursOf(largest: Cost): (cost: Cost) => string {
  const hours = decimals(largest.node_ms / HOUR_MS);
  return ({ node_ms: ms }) => hours.format(ms / HOUR_MS);
}

/** Returns a format of compute units for costs up to the largest. */
export function unitsOf(largest: Cost): (cost: Cost) => string {
  const units = decimals(largest.ycu);
  return ({ ycu }) => units.format(ycu);
}

/** Returns the price of unused memory in the measure of the cost that it is a part of. */
export function unusedText(unused: UnusedMemory, measure: Measure): string {
  const text = measure.format(unusedValue(unused, measure));
  return measure.currency === null ? costTexts.units(text) : text;
}

export function unusedValue({ amount, ycu }: UnusedMemory, { currency }: Measure): number {
  return currency === null ? ycu : (amount ?? 0);
}

export function gibHoursText({ gib_hours: hours }: UnusedMemory): string {
  return costTexts.gibHours(decimals(hours).format(hours));
}

/** Returns a part in percent, such as `42.1` or `<0.1`. */
export function percentText(part: number, whole: number): string {
  const percent = whole > 0 ? (part / whole) * 100 : 0;
  return percent > 0 && percent < 0.05 ? '<0.1' : percent.toFixed(1);
}

/** Returns a moment to the millisecond: intervals end with days of UTC. */
export function utcText(at: string | null): string {
  return at === null ? commonTexts.none : at.replace('T', ' ').replace('Z', '');
}

function decimals(largest: number, options: Intl.NumberFormatOptions = {}): Intl.NumberFormat {
  const digits = largest === 0 || largest >= 10 ? 2 : largest >= 0.1 ? 4 : 6;
  return new Intl.NumberFormat('en-US', {
    ...options,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}
