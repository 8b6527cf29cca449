import type { ReactNode } from 'react';
import table from './plain-table.module.css';
import { StateBadge } from './state-badge';
import { texts } from './texts';
import { dateOf, durationText, exactTime } from './time';

/** A state that something had, with who caused it, at which step and why. */
export interface StateEntry {
  key: number;
  /** The run, cluster or node that had it, if that is not always the same. */
  subject?: ReactNode;
  state: string;
  of: 'run' | 'cluster';
  from: string;
  /** `infinity` or null for the present state. */
  to: string | null;
  /** True for a present state whose duration nobody waits for. */
  isFinal?: boolean;
  /** The number of nodes, for clusters. */
  nodes?: number;
  by: string | null;
  step: string | null;
  reason: ReactNode;
}

interface StateHistoryProps {
  /** Heading of the subjects; without it there is no such column. */
  subject?: string;
  hasNodes?: boolean;
  entries: readonly StateEntry[];
  now: number;
}

export function StateHistory({ subject, hasNodes = false, entries, now }: StateHistoryProps): ReactNode {
  const t = texts.run.history;
  return (
    <div className={table['frame']}>
      <table className={table['table']}>
        <thead>
          <tr>
            {subject !== undefined && <th>{subject}</th>}
            <th>{t.state}</th>
            <th>{t.since}</th>
            <th className={table['number']}>{t.for}</th>
            {hasNodes && <th className={table['number']}>{texts.clusters.columns.nodes}</th>}
            <th>{t.by}</th>
            <th>{t.step}</th>
            <th>{t.reason}</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => {
            const from = dateOf(entry.from);
            const end = dateOf(entry.to);
            const until = end?.getTime() ?? (entry.isFinal ? null : now);
            return (
              <tr key={entry.key}>
                {subject !== undefined && <td>{entry.subject}</td>}
                <td>
                  <StateBadge state={entry.state} of={entry.of} isOver={end !== null} />
                </td>
                <td>{from && exactTime(from)}</td>
                <td className={table['number']}>
                  {from && until !== null ? durationText(until - from.getTime()) : texts.time.never}
                </td>
                {hasNodes && <td className={table['number']}>{entry.nodes}</td>}
                <td>{entry.by ?? <span className={table['soft']}>{t.platform}</span>}</td>
                <td className="mono">{entry.step}</td>
                <td>{entry.reason}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
