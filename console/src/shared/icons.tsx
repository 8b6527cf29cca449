import type { ReactNode, SVGProps } from 'react';

/** Paths on a grid of 24, drawn as lines. */
const PATHS = {
  runs: 'M4 6h16M4 12h10M4 18h13',
  clusters: 'M4 5.5h16v5H4zM4 13.5h16v5H4zM7.5 8h.01M7.5 16h.01',
  folder: 'M3.5 6h6l2 2.500h9V19h-17z',
  file: 'M6 3.5h8l4 4V20.5H6zM13.5 3.500V8H18',
  jobs: 'M4 7.500h16V19H4zM9 7.500V5h6v2.500M4 12.500h16',
  terminal: 'M4 5h16v14H4zM7.500 9.500l3 2.500-3 2.500M12.500 15h4',
  data: 'M12 8.500c4 0 7-1.100 7-2.500s-3-2.500-7-2.500S5 4.600 5 6s3 2.500 7 2.500zM5 6v12c0 1.400 3 2.500 7 2.500s7-1.100 7-2.500V6M5 12c0 1.400 3 2.500 7 2.500s7-1.100 7-2.500',
  table: 'M4 5h16v14H4zM4 10h16M10 10v9',
  eye: 'M3 12s3.500-6 9-6 9 6 9 6-3.500 6-9 6-9-6-9-6zM12 14.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5z',
  plus: 'M12 5v14M5 12h14',
  more: 'M5.500 12h.01M12 12h.01M18.500 12h.01',
  notebook: 'M6.5 3.500H19v17H6.500zM4 7.500h3M4 12h3M4 16.500h3M10.500 8H15M10.500 12H15',
  book: 'M5 4.5h10a4 4 0 0 1 4 4v11H9a4 4 0 0 1-4-4zM5 15.5a3 3 0 0 1 3-3h11',
  key: 'M15 13.5a5 5 0 1 0-4.300-2.500L4 17.700V20h3v-2.500h2.500V15l1.800-1.800M16 8h.01',
  people:
    'M9 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2.5 20a6.5 6.5 0 0 1 13 0M16 4.500a4 4 0 0 1 0 7M18 14.500a6.500 6.500 0 0 1 3.500 5.500',
  gear: 'M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM12 3v3M12 18v3M3 12h3M18 12h3M5.600 5.600l2.200 2.200M16.200 16.200l2.200 2.200M5.600 18.400l2.200-2.200M16.200 7.800l2.200-2.200',
  cost: 'M12 3v18M16.5 7.500c-.6-1.500-2.200-2.500-4.500-2.500-2.600 0-4.500 1.300-4.500 3.300 0 4.700 9.500 2.300 9.500 7.200 0 2.200-2 3.500-5 3.500-2.600 0-4.400-1.100-5-2.800',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.5 15.5 20 20',
  chevronDown: 'm6.5 9.5 5.5 5.5 5.5-5.5',
  chevronRight: 'm9.5 6.5 5.5 5.5-5.5 5.5',
  selector: 'm8 9.5 4-4 4 4M8 14.5l4 4 4-4',
  check: 'm5 12.5 4.5 4.5L19 7.5',
  done: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM8 12.300l2.8 2.800L16 9.6',
  failed: 'M8.3 3h7.400L21 8.300v7.400L15.7 21H8.300L3 15.700V8.300zM12 7.800v5M12 16.200h.01',
  waiting: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3.2 2',
  stopped: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.5 9.5h5v5h-5z',
  killed: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9 9l6 6M15 9l-6 6',
  lost: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM5.7 5.700l12.6 12.6',
  active: 'M12 3a9 9 0 1 1-9 9',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.300l1.4 1.400M17.3 17.300l1.4 1.400M18.7 5.300l-1.4 1.400M6.7 17.300l-1.4 1.4',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z',
  monitor: 'M3.5 5h17v11h-17zM9 20h6M12 16v4',
  logout: 'M14 4.5H6v15h8M10.5 12H20M17 8.5l3.5 3.5-3.5 3.5',
  close: 'M6.5 6.5l11 11M17.5 6.5l-11 11',
  play: 'M8 5.5v13l10.5-6.5z',
  stop: 'M6.5 6.5h11v11h-11z',
  again: 'M19.5 12a7.5 7.5 0 1 1-2.3-5.400M19.5 3.5v4h-4',
  download: 'M12 4v11M7.5 11l4.5 4.5 4.5-4.5M5 20h14',
  toEnd: 'M12 4v11M7.5 11l4.5 4.5 4.5-4.5M6 20h12',
  toStart: 'M12 20V9M7.5 13l4.5-4.5 4.5 4.5M6 4h12',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  arrowUp: 'M12 19V5.5M6.5 11 12 5.5l5.5 5.5',
  arrowDown: 'M12 5v13.5M6.5 13l5.5 5.5 5.5-5.5',
  building: 'M5 20V4.5h9V20M14 9.5h5V20M3.5 20h17M8 8h3M8 12h3M8 16h3',
  inbox: 'M4 13.5 6.5 5h11l2.5 8.5V19H4zM4 13.5h5l1.5 2.5h3l1.5-2.5h5',
  info: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v5.5M12 7.5h.01',
  wrap: 'M4 6h16M4 12h13a3 3 0 0 1 0 6h-4M15 15.5 12.5 18l2.5 2.5M4 18h4',
} as const;

export type IconName = keyof typeof PATHS;

interface IconProps extends Omit<SVGProps<SVGSVGElement>, 'name'> {
  name: IconName;
  size?: number;
}

/** A picture beside a text, which says the same; it is silent for screen readers. */
export function Icon({ name, size = 16, ...rest }: IconProps): ReactNode {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.8}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
      {...rest}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
