import 'uplot/dist/uPlot.min.css';
import { type ReactNode, useEffect, useRef } from 'react';
import uPlot from 'uplot';
import styles from './plot.module.css';

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
const DASHES = [[], [6, 4], [2, 3], [10, 4, 2, 4]];
const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 4 });
const MIN_HEIGHT = 180;
const LEGEND_HEIGHT = 40;
/** More lines could not be told apart. */
export const MAX_LINES = COLOURS.length;

/** Colours and lines of a chart, as a canvas takes them. */
export interface Ink {
  /** Returns the colour of a property such as `--line`, as `#rrggbb`. */
  colour: (property: string) => string;
  /** Returns how a line is told apart from the others: by colour and by dashes. */
  line: (index: number) => { stroke: string; dash: number[] };
  axis: uPlot.Axis;
}

export type PlotOptions = Omit<uPlot.Options, 'width' | 'height'>;

interface PlotProps {
  /** Says in words what the chart shows. */
  label: string;
  data: uPlot.AlignedData;
  /** Describes the chart. It is drawn again for another function or other data. */
  options: (ink: Ink) => PlotOptions;
  /** Pixels without the legend; without it, the chart fills its place. */
  height?: number;
}

/** A chart that follows the width of its place and the colours of the page. */
export function Plot({ label, data, options, height }: PlotProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const size = () => ({ width: element.clientWidth, height: height ?? heightIn(element) });
    const draw = () => new uPlot({ ...options(inkOf(element)), ...size() }, data, element);
    let plot = draw();
    const sizes = new ResizeObserver(() => plot.setSize(size()));
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
  }, [data, options, height]);
  return (
    <div
      ref={place}
      className={styles['plot']}
      data-fill={height === undefined || undefined}
      role="img"
      aria-label={label}
    />
  );
}

/** Returns the numbers of an axis in few digits, but enough to tell them apart. */
export function axisNumbers(_: uPlot, at: readonly number[]): string[] {
  return at.map((one) => COMPACT.format(one));
}

/** Returns times as those of UTC; days are counted by it. */
export function utcDate(seconds: number): Date {
  return uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC');
}

/**
 * Returns how bars are drawn.
 * @param maxWidth pixels
 */
export function bars(maxWidth: number): Partial<uPlot.Series> {
  const paths = uPlot.paths.bars?.({ size: [0.7, maxWidth] });
  return { ...(paths && { paths }), points: { show: false } };
}

/** Returns a filling of stripes, which is told apart from a full one without colour. */
export function hatched(colour: string): CanvasPattern | string {
  const size = Math.round(6 * window.devicePixelRatio);
  const tile = document.createElement('canvas');
  tile.width = tile.height = size;
  const context = tile.getContext('2d');
  if (!context) return colour;
  context.strokeStyle = colour;
  context.lineWidth = window.devicePixelRatio;
  // Corners are drawn over the edge, so that the stripes of neighbouring tiles meet.
  for (const shift of [-size, 0, size]) {
    context.moveTo(shift - 1, size + 1);
    context.lineTo(shift + size + 1, -1);
  }
  context.stroke();
  return context.createPattern(tile, 'repeat') ?? colour;
}

function inkOf(element: Element): Ink {
  const colour = (property: string) => resolved(element, property);
  return {
    colour,
    line: (index) => ({
      stroke: colour(COLOURS[index % COLOURS.length] ?? ''),
      dash: DASHES[index % DASHES.length] ?? [],
    }),
    axis: {
      stroke: colour('--ink-faint'),
      grid: { stroke: colour('--line'), width: 1 },
      ticks: { stroke: colour('--line'), width: 1 },
      font: `11px ${getComputedStyle(element).fontFamily}`,
    },
  };
}

/** Returns the present value of a property, which a canvas cannot look up. */
function resolved(element: Element, property: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${property})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).map(Number);
  return `#${[red, green, blue].map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}

function heightIn(element: Element): number {
  return Math.max(MIN_HEIGHT, element.clientHeight - LEGEND_HEIGHT);
}
