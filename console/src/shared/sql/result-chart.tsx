import { SegmentedControl } from '@mantine/core';
import type { Column } from 'managed-spark/sql';
import { type ReactNode, useCallback, useMemo, useState } from 'react';
import type uPlot from 'uplot';
import { ChoiceFilter } from '../choice-filter';
import { EmptyState } from '../empty-state';
import { MultiFilter } from '../multi-filter';
import { axisNumbers, bars, type Ink, MAX_LINES, Plot, type PlotOptions, utcDate } from '../plot';
import { sqlTexts as t } from '../sql-texts';
import { number } from '../texts';
import { type ChartChoice, type ChartPoints, firstChoice, MAX_POINTS, pointsOf } from './chart-data';
import styles from './result-chart.module.css';
import type { ResultRows } from './result-rows';
import { isNumeric } from './values';

const BAR_WIDTH = 60;

/** Numbers of a result as lines or bars. */
export function ResultChart({ result, version }: { result: ResultRows; version: number }): ReactNode {
  const { columns, rows } = result;
  const [choice, setChoice] = useState<ChartChoice | null>(() => firstChoice(columns, rows));
  // oxlint-disable-next-line react/exhaustive-deps -- the rows are the same list, which has grown
  const points = useMemo(() => choice && pointsOf(columns, rows, choice), [columns, rows, choice, version]);
  if (!choice || !points) return <EmptyState icon="info" title={t.noChart} hint={t.noChartHint} />;
  return (
    <div className={styles['chart']}>
      <div className={styles['choices']}>
        <ChoiceFilter
          label={t.axis.x}
          options={columns.map((_, index) => ({ value: index, label: `${t.axis.x}: ${nameOf(columns, index)}` }))}
          selected={choice.x}
          onChange={(x) => x !== null && setChoice({ ...choice, x })}
        />
        <MultiFilter
          label={t.axis.y}
          options={columns.flatMap((column, index) =>
            isNumeric(column) ? [{ value: String(index), label: nameOf(columns, index) }] : [],
          )}
          selected={choice.y.map(String)}
          onChange={(y) => y.length > 0 && y.length <= MAX_LINES && setChoice({ ...choice, y: y.map(Number) })}
        />
        <SegmentedControl
          size="xs"
          aria-label={t.axis.kind}
          data={[
            { value: 'line', label: t.axis.line },
            { value: 'bar', label: t.axis.bar },
          ]}
          value={choice.kind}
          onChange={(kind) => setChoice({ ...choice, kind: kind === 'bar' ? 'bar' : 'line' })}
        />
        {(rows.length > MAX_POINTS || !result.isComplete) && (
          <span className={styles['note']}>{t.chartCut(number(Math.min(rows.length, MAX_POINTS)))}</span>
        )}
      </div>
      <Points result={result} choice={choice} points={points} />
    </div>
  );
}

interface PointsProps {
  result: ResultRows;
  choice: ChartChoice;
  points: ChartPoints;
}

function Points({ result: { columns }, choice: { x, y, kind }, points }: PointsProps): ReactNode {
  const names = useMemo(() => y.map((index) => nameOf(columns, index)), [columns, y]);
  const data = useMemo<uPlot.AlignedData>(() => [points.xs, ...points.ys], [points]);
  const options = useCallback((ink: Ink) => optionsOf(points, names, kind, ink), [points, names, kind]);
  const label = t.chartLabel(names, nameOf(columns, x), number(points.xs.length));
  return <Plot label={label} data={data} options={options} />;
}

function nameOf(columns: readonly Column[], index: number): string {
  return columns[index]?.name || `#${index + 1}`;
}

/** Returns how the points are drawn. */
function optionsOf({ labels, isTime }: ChartPoints, names: readonly string[], kind: string, ink: Ink): PlotOptions {
  return {
    tzDate: utcDate,
    scales: { x: { time: isTime, ...(labels && { range: (_, least, most) => [least - 0.6, most + 0.6] }) } },
    axes: [
      labels
        ? {
            ...ink.axis,
            incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000],
            values: (_, at) => at.map((one) => short(labels[one] ?? '')),
          }
        : ink.axis,
      { ...ink.axis, size: 64, values: axisNumbers },
    ],
    series: [
      labels ? { label: '', value: (_, at) => (at === null ? '–' : (labels[at] ?? '–')) } : { label: '' },
      ...names.map((label, index) => {
        const { stroke, dash } = ink.line(index);
        return kind === 'bar'
          ? { label, stroke, width: 1, fill: `${stroke}80`, ...bars(BAR_WIDTH) }
          : { label, stroke, width: 2, dash };
      }),
    ],
  };
}

function short(text: string): string {
  return text.length > 18 ? `${text.slice(0, 17)}…` : text;
}
