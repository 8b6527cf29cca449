import { choiceParam, dayParam, idParam, withoutAbsent } from '../../shared/search-params';

/** The parts by which costs can be divided, in the order in which they are offered. */
export const PARTS = ['day', 'workspace', 'cluster', 'user', 'run'] as const;
export type Part = (typeof PARTS)[number];

/** Periods that move on with the present day. */
export const PERIODS = ['this-month', 'last-month', '7d', '30d'] as const;
export type PeriodName = (typeof PERIODS)[number];

const DAY_MS = 86_400_000;

/** The costs that are shown, as they are in the address. */
export interface CostsSearch {
  period?: PeriodName;
  /** First and last day (UTC) of a period of its own. */
  from?: string;
  to?: string;
  by?: Part;
  workspace?: number;
  cluster?: number;
  user?: number;
  /** Id of the run whose intervals are open, and of its workspace. */
  run?: number;
  in?: number;
  /** The day of the sum whose intervals are open, or `all` for the whole period; the cluster, if it is that of one. */
  intervals?: string;
  of?: number;
}

/** The sum whose intervals of the ledger are shown: days of UTC, both included, and a cluster; null for all of them. */
export interface IntervalsOf {
  from: string;
  to: string;
  cluster: number | null;
}

const WHOLE_PERIOD = 'all';

/** Days of UTC, both included. */
export interface Period {
  from: string;
  to: string;
  /** Null for a period that somebody has set. */
  name: PeriodName | null;
}

export function readCostsSearch(search: Record<string, unknown>): CostsSearch {
  return withoutAbsent({
    period: choiceParam(PERIODS, search['period']),
    from: dayParam(search['from']),
    to: dayParam(search['to']),
    by: choiceParam(PARTS, search['by']),
    workspace: idParam(search['workspace']),
    cluster: idParam(search['cluster']),
    user: idParam(search['user']),
    run: idParam(search['run']),
    in: idParam(search['in']),
    intervals: search['intervals'] === WHOLE_PERIOD ? WHOLE_PERIOD : dayParam(search['intervals']),
    of: idParam(search['of']),
  });
}

/** Returns the days that an address means at a moment. */
export function periodOf({ period, from, to }: CostsSearch, now: Date): Period {
  const today = dayOf(now);
  if (from !== undefined || to !== undefined) {
    const [first, last] = [from ?? to ?? today, to ?? today];
    return { from: first, to: last, name: null };
  }
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  switch (period ?? '30d') {
    case 'this-month':
      return { from: dayOf(new Date(Date.UTC(year, month, 1))), to: today, name: 'this-month' };
    case 'last-month': {
      const [first, last] = [new Date(Date.UTC(year, month - 1, 1)), new Date(Date.UTC(year, month, 0))];
      return { from: dayOf(first), to: dayOf(last), name: 'last-month' };
    }
    case '7d':
      return { from: daysBefore(now, 6), to: today, name: '7d' };
    case '30d':
      return { from: daysBefore(now, 29), to: today, name: '30d' };
  }
}

/** Returns what the address becomes to show the intervals of a sum: of a day, of a cluster or, without either, of the period. */
export function intervalsSearch({ day, cluster }: { day?: string | null; cluster?: number | null }): CostsSearch {
  return withoutAbsent({ intervals: day ?? WHOLE_PERIOD, of: cluster ?? undefined });
}

/** Returns the sum whose intervals an address shows; null if it shows none. */
export function intervalsOf({ intervals, of, cluster }: CostsSearch, { from, to }: Period): IntervalsOf | null {
  if (intervals === undefined) return null;
  const days = intervals === WHOLE_PERIOD ? { from, to } : { from: intervals, to: intervals };
  return { ...days, cluster: of ?? cluster ?? null };
}

/** Returns every day of a period, the first one first. */
export function daysOf({ from, to }: Pick<Period, 'from' | 'to'>): string[] {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  return Array.from({ length: Math.max(0, (last - first) / DAY_MS + 1) }, (_, index) =>
    dayOf(new Date(first + index * DAY_MS)),
  );
}

function daysBefore(now: Date, count: number): string {
  return dayOf(new Date(now.getTime() - count * DAY_MS));
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}
