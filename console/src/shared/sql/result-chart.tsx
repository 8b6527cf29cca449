import 'uplot/dist/uPlot.min.css';
import { SegmentedControl } from '@mantine/core';
import type { Column } from 'managed-spark/sql';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import { ChoiceFilter } from '../choice-filter';
import { EmptyState } from '../empty-state';
import { MultiFilter } from '../multi-filter';
import { sqlTexts as t } from '../sql-texts';
import { number } from '../texts';
import { type ChartChoice, type ChartPoints, firstChoice, MAX_POINTS, pointsOf } from './chart-data';
import styles from './result-chart.module.css';
import type { ResultRows } from './result-rows';
import { isNumeric } from './values';

/** Colours of lines, told apart by how light they are, too. */
const COLOURS = [
  '--chart-1',
  '--chart-2',
  '--chart-3',
  '--chart-4',
  '--chart-5',
  '--chart-6',
  '--chart-7',
  '--chart-8',
];
const DASHES = [[], [6, 4], [2, 3], [10, 4, 2, 4], [], [6, 4], [2, 3], [10, 4, 2, 4]];
const MIN_HEIGHT = 180;
/** The numbers of an axis have room for few digits. */
const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 2 });

/** Numbers of a result as lines or bars. */
export function ResultChart({ result, version }: { result: ResultRows; version: number }): ReactNode {
  const { columns, rows } = result;
  const [choice, setChoice] = useState<ChartChoice | null>(() => firstChoice(columns, rows));
  // oxlint-disable-next-line react/exhaustive-deps -- the rows are the same list, which has grown
  const points = useMemo(() => choice && pointsOf(columns, rows, choice), [columns, rows, choice, version]);
  if (!choice || !points) return <EmptyState icon="info" title={t.noChart} hint={t.noChartHint} />;
  const names = choice.y.map((index) => nameOf(columns, index));
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
          onChange={(y) => y.length > 0 && y.length <= COLOURS.length && setChoice({ ...choice, y: y.map(Number) })}
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
      <Plot
        points={points}
        names={names}
        kind={choice.kind}
        label={t.chartLabel(names, nameOf(columns, choice.x), number(points.xs.length))}
      />
    </div>
  );
}

function nameOf(columns: readonly Column[], index: number): string {
  return columns[index]?.name || `#${index + 1}`;
}

interface PlotProps {
  points: ChartPoints;
  names: readonly string[];
  kind: ChartChoice['kind'];
  label: string;
}

function Plot({ points, names, kind, label }: PlotProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const draw = () => new uPlot(optionsOf(points, names, kind, element), [points.xs, ...points.ys], element);
    let plot = draw();
    const sizes = new ResizeObserver(() => plot.setSize(sizeOf(element)));
    sizes.observe(element);
    // The colours of a canvas do not follow the scheme of the page.
    const schemes = new MutationObserver(() => {
      plot.destroy();
      plot = draw();
    });
    schemes.observe(document.documentElement, { attributeFilter: ['data-mantine-color-scheme'] });
    return () => {
      sizes.disconnect();
      schemes.disconnect();
      plot.destroy();
    };
  }, [points, names, kind]);
  return <div ref={place} className={styles['plot']} role="img" aria-label={label} />;
}

function optionsOf(
  { labels, isTime }: ChartPoints,
  names: readonly string[],
  kind: string,
  element: Element,
): uPlot.Options {
  const colour = (name: string) => resolved(element, name);
  const axis: uPlot.Axis = {
    stroke: colour('--ink-faint'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
    font: `11px ${getComputedStyle(element).fontFamily}`,
  };
  return {
    ...sizeOf(element),
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    scales: { x: { time: isTime, ...(labels && { range: (_, least, most) => [least - 0.6, most + 0.6] }) } },
    axes: [
      labels
        ? {
            ...axis,
            incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000],
            values: (_, at) => at.map((one) => short(labels[one] ?? '')),
          }
        : axis,
      { ...axis, size: 64, values: (_, at) => at.map((one) => COMPACT.format(one)) },
    ],
    series: [
      labels ? { label: '', value: (_, at) => (at === null ? '–' : (labels[at] ?? '–')) } : { label: '' },
      ...names.map((name, index): uPlot.Series => {
        const stroke = colour(COLOURS[index % COLOURS.length] ?? '');
        const bars = kind === 'bar' ? uPlot.paths.bars?.({ size: [0.7, 60] }) : undefined;
        return {
          label: name,
          stroke,
          width: kind === 'bar' ? 1 : 2,
          ...(bars
            ? { paths: bars, fill: `${stroke}80`, points: { show: false } }
            : { dash: DASHES[index % DASHES.length] ?? [] }),
        };
      }),
    ],
  };
}

/** Returns a colour as a canvas takes it. */
function resolved(element: Element, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).map(Number);
  return `#${[red, green, blue].map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}

function sizeOf(element: Element): { width: number; height: number } {
  // The legend stands below the plot.
  return { width: element.clientWidth, height: Math.max(MIN_HEIGHT, element.clientHeight - 40) };
}

function short(text: string): string {
  return text.length > 18 ? `${text.slice(0, 17)}…` : text;
}
