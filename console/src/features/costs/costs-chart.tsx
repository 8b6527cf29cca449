import type { CostReport } from 'managed-spark/types';
import { type ReactNode, useCallback, useMemo } from 'react';
import type uPlot from 'uplot';
import { costTexts } from '../../shared/cost-texts';
import { axisNumbers, bars, hatched, type Ink, Plot, type PlotOptions, utcDate } from '../../shared/plot';
import type { Measure } from './cost-format';
import { daysOf, type Period } from './costs-search';
import styles from './costs-screen.module.css';

const t = costTexts.chart;

const HEIGHT = 170;
const BAR_WIDTH = 44;
const DAY_S = 86_400;
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const LONG_DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' });

interface CostsChartProps {
  /** The report by day. */
  report: CostReport;
  period: Period;
  measure: Measure;
}

interface Days {
  times: number[];
  runs: number[];
  /** Null for those who do not see idle time. */
  nodes: number[] | null;
}

/** The costs of each day: those of runs, and above them what was idle. */
export function CostsChart({ report, period, measure }: CostsChartProps): ReactNode {
  const days = useMemo(() => daysIn(report, period, measure), [report, period, measure]);
  const data = useMemo<uPlot.AlignedData>(
    () => (days.nodes ? [days.times, days.nodes, days.runs] : [days.times, days.runs]),
    [days],
  );
  const options = useCallback((ink: Ink) => optionsOf(days, measure, ink), [days, measure]);
  const what = measure.currency === null ? t.units : t.amount(measure.currency);
  return (
    <section className={styles['card']}>
      <h2 className={styles['title']}>{t.title(what)}</h2>
      <Plot label={t.label(what, days.times.length)} data={data} options={options} height={HEIGHT} />
    </section>
  );
}

/** A day without a line cost nothing. */
function daysIn({ data, total }: CostReport, period: Period, { valueOf }: Measure): Days {
  const byDay = new Map(data.map((line) => [line.day, line]));
  const days = daysOf(period);
  const valuesOf = (kind: 'runs' | 'nodes') =>
    days.map((day) => {
      const cost = byDay.get(day)?.[kind];
      return cost ? valueOf(cost) : 0;
    });
  return {
    times: days.map((day) => Date.parse(day) / 1000),
    runs: valuesOf('runs'),
    nodes: total.nodes ? valuesOf('nodes') : null,
  };
}

function optionsOf({ runs, nodes }: Days, measure: Measure, ink: Ink): PlotOptions {
  const [solid, faint] = [ink.colour('--chart-1'), ink.colour('--chart-8')];
  const text = (value: number | null | undefined) =>
    value === null || value === undefined ? '–' : measure.format(value);
  const idle: uPlot.Series = {
    label: t.idle,
    stroke: faint,
    width: 1,
    fill: hatched(faint),
    // The bar of all nodes stands behind that of runs, so what is seen of it is idle.
    value: (_, _all, _series, at) => text(at === null ? null : (nodes?.[at] ?? 0) - (runs[at] ?? 0)),
    ...bars(BAR_WIDTH),
  };
  const held: uPlot.Series = {
    label: t.runs,
    stroke: solid,
    width: 1,
    fill: solid,
    value: (_, value) => text(value),
    ...bars(BAR_WIDTH),
  };
  return {
    tzDate: utcDate,
    cursor: { y: false, points: { show: false } },
    scales: {
      x: { time: true, range: (_, first, last) => [first - DAY_S * 0.6, last + DAY_S * 0.6] },
      y: { range: (_, _least, most) => [0, most > 0 ? most * 1.08 : 1] },
    },
    axes: [
      {
        ...ink.axis,
        grid: { show: false },
        incrs: [1, 2, 7, 14, 30, 61].map((days) => days * DAY_S),
        values: (_, at) => at.map((one) => DAY.format(one * 1000)),
      },
      { ...ink.axis, size: 56, values: axisNumbers },
    ],
    legend: {
      markers: { fill: (_, index) => (nodes && index === 1 ? hatchedCss(faint) : solid), stroke: () => faint },
    },
    series: [
      { label: t.day, value: (_, at) => (at === null ? '–' : LONG_DAY.format(at * 1000)) },
      ...(nodes ? [idle] : []),
      held,
    ],
  };
}

function hatchedCss(colour: string): string {
  return `repeating-linear-gradient(135deg, ${colour} 0 1.5px, transparent 1.5px 4px)`;
}
