import { Link } from '@tanstack/react-router';
import type { Cost, CostLine, CostReport } from 'managed-spark/types';
import { type ReactNode, useMemo } from 'react';
import { commonTexts } from '../../shared/common-texts';
import { costTexts } from '../../shared/cost-texts';
import { type Column, DataTable } from '../../shared/data-table';
import { number } from '../../shared/texts';
import list from '../../shared/list-screen.module.css';
import { gibHoursText, hoursOf, type Measure, measureOf, unitsOf, unusedValue } from './cost-format';
import { type CostsSearch, intervalsSearch, type Part, readCostsSearch } from './costs-search';
import { IntervalsLink } from './intervals-link';
import { ShareBar } from './share-bar';

const t = costTexts.columns;

const DAY = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});

interface CostsTableProps {
  by: Part;
  pages: readonly CostReport[];
  onEnd: () => void;
}

/** The lines of the costs; each leads to its runs, and a run to the ledger. */
export function CostsTable({ by, pages, onEnd }: CostsTableProps): ReactNode {
  const rows = useMemo(() => pages.flatMap(({ data }) => data), [pages]);
  const total = pages[0]?.total;
  const columns = useMemo(() => (total ? columnsOf(by, rows, total) : []), [by, rows, total]);
  return (
    <DataTable label={costTexts.title} columns={columns} rows={rows} keyOf={(line) => keyOf(by, line)} onEnd={onEnd} />
  );
}

function columnsOf(by: Part, rows: readonly CostLine[], total: CostReport['total']): Column<CostLine>[] {
  const wholeOf = ({ runs, nodes }: Pick<CostLine, 'runs' | 'nodes'>) => nodes ?? runs;
  // Idle time is part of some divisions only; others are compared with what runs cost.
  const sum = rows.some(({ nodes }) => nodes !== null) ? wholeOf(total) : total.runs;
  const largest = rows.map(wholeOf).reduce((most, one) => (one.ycu > most.ycu ? one : most), rows[0]?.runs ?? sum);
  const measure = measureOf(sum.pricing === 'PRICED' ? largest : sum);
  const most = Math.max(...rows.map((line) => measure.valueOf(wholeOf(line))));
  return [
    {
      id: 'name',
      header: costTexts.by.names[by],
      width: 'minmax(160px, 1.6fr)',
      cell: (line) => <Name by={by} line={line} />,
    },
    ...(by === 'run' ? PLACES : []),
    {
      id: 'share',
      header: t.share,
      width: 'minmax(130px, 1.2fr)',
      cell: ({ runs, idle }) => (
        <ShareBar
          runs={measure.valueOf(runs)}
          idle={idle ? measure.valueOf(idle) : 0}
          largest={most}
          total={measure.valueOf(sum)}
        />
      ),
    },
    ...valuesOf(by, sum === total.nodes, measure),
    ...(total.unused_memory ? [unusedColumn(measure)] : []),
    ...(measure.currency === null ? [] : [costColumn('units', t.units, unitsOf(largest), wholeOf)]),
    costColumn('hours', t.hours, hoursOf(largest), wholeOf),
  ];
}

const PLACES: readonly Column<CostLine>[] = [
  {
    id: 'workspace',
    header: t.workspace,
    width: 'minmax(100px, 0.8fr)',
    cell: ({ workspace }) => <span className={list['soft']}>{workspace?.name ?? commonTexts.none}</span>,
  },
  {
    id: 'cluster',
    header: t.cluster,
    width: 'minmax(100px, 0.8fr)',
    cell: ({ cluster }) => <span className={list['soft']}>{cluster?.name ?? commonTexts.none}</span>,
  },
  {
    id: 'by',
    header: t.by,
    width: 'minmax(80px, 0.6fr)',
    cell: ({ user }) => <span className={list['soft']}>{user?.username ?? commonTexts.none}</span>,
  },
];

/** Returns the columns of amounts: of runs and, for those who see idle time, of it and of all. */
function valuesOf(by: Part, withIdle: boolean, { text, currency }: Measure): Column<CostLine>[] {
  const cost = currency === null ? t.units : t.cost;
  if (!withIdle) return [costColumn('cost', cost, text, ({ runs }) => runs)];
  return [
    costColumn('runs', t.runs, text, ({ runs }) => runs),
    costColumn('idle', t.idle, text, ({ idle }) => idle),
    {
      ...costColumn('nodes', t.nodes, text, ({ nodes }) => nodes),
      cell: ({ nodes, ...line }) =>
        nodes ? (
          <IntervalsLink
            name={nameOf(by, line)}
            cost={nodes}
            text={text(nodes)}
            search={intervalsSearch({ day: line.day, cluster: line.cluster?.id })}
          />
        ) : (
          commonTexts.none
        ),
    },
  ];
}

/** Returns the column of memory that was not used, which is part of what runs cost. */
function unusedColumn(measure: Measure): Column<CostLine> {
  return {
    id: 'unused',
    header: t.unused,
    width: '124px',
    align: 'end',
    cell: ({ unused_memory: unused }) =>
      unused ? (
        <span title={gibHoursText(unused)}>{measure.format(unusedValue(unused, measure))}</span>
      ) : (
        commonTexts.none
      ),
  };
}

function costColumn(
  id: string,
  header: string,
  text: (cost: Cost) => string,
  of: (line: CostLine) => Cost | null,
): Column<CostLine> {
  return {
    id,
    header,
    width: '112px',
    align: 'end',
    cell: (line) => {
      const cost = of(line);
      return cost ? <span title={`${number(cost.node_ms)} ms`}>{text(cost)}</span> : commonTexts.none;
    },
  };
}

function keyOf(by: Part, line: CostLine): string {
  return by === 'user' ? `user ${line.user?.user_id ?? 0}` : by === 'day' ? String(line.day) : String(line[by]?.id);
}

/** A group leads to its runs, and a run to the intervals of the ledger. */
function Name({ by, line }: { by: Part; line: CostLine }): ReactNode {
  const name = nameOf(by, line);
  const part = wayOn(by, line);
  if (part === null) return name;
  return (
    <>
      <Link
        to="/costs"
        search={(before) => readCostsSearch({ ...before, ...part })}
        className={list['name']}
        aria-label={by === 'run' ? undefined : costTexts.drill(name)}
      >
        {name}
      </Link>{' '}
      {by === 'run' && <span className={list['id']}>#{line.run?.id}</span>}
    </>
  );
}

function nameOf(by: Part, line: Omit<CostLine, 'nodes'>): string {
  if (by === 'day') return DAY.format(new Date(line.day ?? 0));
  if (by === 'user') return line.user?.username ?? costTexts.platform;
  const subject = line[by];
  return subject?.name ?? `#${subject?.id}`;
}

/** Returns what the address becomes; null for a line that leads nowhere. */
function wayOn(by: Part, { day, workspace, cluster, user, run }: CostLine): Partial<CostsSearch> | null {
  switch (by) {
    case 'day':
      return { by: 'run', period: undefined, from: day ?? undefined, to: day ?? undefined };
    case 'workspace':
      return { by: 'run', workspace: workspace?.id };
    case 'cluster':
      return { by: 'run', cluster: cluster?.id };
    case 'user':
      return user ? { by: 'run', user: user.user_id } : null;
    case 'run':
      return workspace && run ? { run: run.id, in: workspace.id } : null;
  }
}
