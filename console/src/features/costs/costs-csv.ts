import type { Cost, CostLine, UnusedMemory } from 'managed-spark/types';
import { csvHead, csvOf } from '../../shared/sql/values';
import type { Part } from './costs-search';

type Cell = string | number | null;

interface CsvColumn {
  name: string;
  type: 'STRING' | 'DOUBLE';
  of: (line: CostLine) => Cell;
}

const text = (name: string, of: CsvColumn['of']): CsvColumn => ({ name, type: 'STRING', of });
const figure = (name: string, of: CsvColumn['of']): CsvColumn => ({ name, type: 'DOUBLE', of });

const RECORDS = {
  workspace: [
    figure('workspace_id', ({ workspace }) => workspace?.id ?? null),
    text('workspace', ({ workspace }) => workspace?.name ?? null),
  ],
  cluster: [
    figure('cluster_id', ({ cluster }) => cluster?.id ?? null),
    text('cluster', ({ cluster }) => cluster?.name ?? null),
  ],
  user: [
    figure('user_id', ({ user }) => user?.user_id ?? null),
    text('username', ({ user }) => user?.username ?? null),
  ],
  run: [figure('run_id', ({ run }) => run?.id ?? null), text('run', ({ run }) => run?.name ?? null)],
} as const;

const SUBJECTS: Readonly<Record<Part, readonly CsvColumn[]>> = {
  ...RECORDS,
  day: [text('day', ({ day }) => day)],
  run: [...RECORDS.run, ...RECORDS.workspace, ...RECORDS.cluster, ...RECORDS.user],
};

const FIGURES = (['runs', 'idle', 'nodes'] as const).flatMap((kind) => {
  const part = (name: string, of: (cost: Cost) => Cell) =>
    figure(`${kind}_${name}`, ({ [kind]: cost }) => (cost ? of(cost) : null));
  return [
    part('node_ms', ({ node_ms: ms }) => ms),
    part('ycu', ({ ycu }) => ycu),
    part('amount', ({ amount }) => amount),
  ];
});

const UNUSED = (['measured_ms', 'gib_hours', 'ycu', 'amount'] as const satisfies (keyof UnusedMemory)[]).map((name) =>
  figure(`unused_memory_${name}`, ({ unused_memory: unused }) => unused?.[name] ?? null),
);

/** Returns the lines as CSV, with all their digits. What somebody may not see, or has no price, is an empty field. */
export function csvOfLines(by: Part, lines: readonly CostLine[], withHead: boolean): string {
  const columns = [...SUBJECTS[by], ...FIGURES, ...UNUSED, text('currency', ({ runs }) => runs.currency)];
  const rows = lines.map((line) => columns.map(({ of }) => of(line)));
  return (withHead ? csvHead(columns) : '') + csvOf(columns, rows);
}
