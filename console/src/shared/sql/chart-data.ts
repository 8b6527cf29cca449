import type { Column, SqlValue } from 'managed-spark/sql';
import { isNumeric, textOfValue } from './values';

export type ChartKind = 'line' | 'bar';

/** Columns that a chart shows, by their positions. */
export interface ChartChoice {
  x: number;
  y: number[];
  kind: ChartKind;
}

/** Points of a chart, sorted by x. */
export interface ChartPoints {
  xs: number[];
  ys: (number | null)[][];
  /** Texts at whole numbers of x; null if x are numbers or times. */
  labels: string[] | null;
  isTime: boolean;
}

/** A browser draws so many points without a pause. */
export const MAX_POINTS = 20_000;
const MAX_LINES = 8;
const TIMES = new Set(['TIMESTAMP', 'DATE']);

/** A scale shows numbers beside others that are so many times larger as a flat line. */
const MAX_RATIO = 100;

/** Returns the choice with which a chart begins: numbers over time, else over the first other column; null without numbers. */
export function firstChoice(columns: readonly Column[], rows: readonly SqlValue[][]): ChartChoice | null {
  const time = columns.findIndex(({ type }) => TIMES.has(type));
  const other = columns.findIndex((column) => !isNumeric(column));
  const x = time >= 0 ? time : Math.max(0, other);
  const y = columns.flatMap((column, index) => (index !== x && isNumeric(column) ? [index] : []));
  if (y.length === 0) return columns[x] && isNumeric(columns[x]) ? { x, y: [x], kind: 'line' } : null;
  const sizes = y.map((index) => largest(rows, index));
  const alike = y.filter((_, place) => isAlike(sizes[place] ?? 0, sizes[0] ?? 0));
  return { x, y: alike.slice(0, MAX_LINES), kind: time >= 0 || other < 0 ? 'line' : 'bar' };
}

function largest(rows: readonly SqlValue[][], index: number): number {
  return rows.slice(0, MAX_POINTS).reduce((most, row) => Math.max(most, Math.abs(finite(row[index] ?? null) ?? 0)), 0);
}

function isAlike(size: number, first: number): boolean {
  return size <= first * MAX_RATIO && first <= size * MAX_RATIO;
}

export function pointsOf(columns: readonly Column[], rows: readonly SqlValue[][], { x, y }: ChartChoice): ChartPoints {
  const type = columns[x]?.type ?? '';
  const isTime = TIMES.has(type);
  const labels = isTime || (columns[x] && isNumeric(columns[x])) ? null : ([] as string[]);
  const points: { at: number; values: (number | null)[] }[] = [];
  for (const [index, row] of rows.slice(0, MAX_POINTS).entries()) {
    const at = labels ? index : isTime ? secondsOf(row[x] ?? null) : Number(row[x] ?? NaN);
    labels?.push(textOfValue(row[x] ?? null) ?? 'NULL');
    if (Number.isFinite(at)) points.push({ at, values: y.map((column) => finite(row[column] ?? null)) });
  }
  points.sort((a, b) => a.at - b.at);
  return {
    xs: points.map(({ at }) => at),
    ys: y.map((_, index) => points.map(({ values }) => values[index] ?? null)),
    labels,
    isTime,
  };
}

/** Spark writes times without a zone; here they count as UTC, so that they are shown as they were written. */
function secondsOf(value: SqlValue): number {
  if (typeof value !== 'string') return NaN;
  return (
    Date.parse(
      `${value
        .trim()
        .replace(' ', 'T')
        .replace(/(\.\d{3})\d+$/, '$1')}${value.includes(':') ? 'Z' : ''}`,
    ) / 1000
  );
}

/** A chart needs no more digits than a double has. */
function finite(value: SqlValue): number | null {
  const number = value === null || value === '' ? NaN : Number(value);
  return Number.isFinite(number) ? number : null;
}
