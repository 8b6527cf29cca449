import { useQuery } from '@tanstack/react-query';
import type { JobRead, RunTimelineEntry } from 'managed-spark/types';
import type { ReactNode } from 'react';
import table from '../../shared/plain-table.module.css';
import { StateBadge } from '../../shared/state-badge';
import { texts } from '../../shared/texts';
import { dateOf, durationText, exactTime } from '../../shared/time';
import { type RunKey, timelineQuery } from './run-api';
import { isActive } from './runs-search';

/** Every state of a run, and those of its cluster and nodes meanwhile, the newest first, with who caused it, at which step and why. */
export function RunHistory({ run, runKey, now }: { run: JobRead; runKey: RunKey; now: number }): ReactNode {
  const { data: timeline } = useQuery(timelineQuery(runKey, run.job_status));
  const t = texts.run.history;
  return (
    <>
      <div className={table['frame']}>
        <table className={table['table']}>
          <thead>
            <tr>
              <th>{t.subject}</th>
              <th>{t.state}</th>
              <th>{t.since}</th>
              <th className={table['number']}>{t.for}</th>
              <th>{t.by}</th>
              <th>{t.step}</th>
              <th>{t.reason}</th>
            </tr>
          </thead>
          <tbody>
            {timeline?.entries.toReversed().map((entry, index) => (
              <Entry key={index} entry={entry} now={now} />
            ))}
          </tbody>
        </table>
      </div>
      {timeline?.is_truncated === true && <p>{t.truncated}</p>}
    </>
  );
}

function Entry({ entry, now }: { entry: RunTimelineEntry; now: number }): ReactNode {
  const { subject, node_number: node, is_node_of_run: hadRun, status, created_by: by, reason, step } = entry;
  const t = texts.run.history;
  const from = dateOf(entry.from_date);
  const end = dateOf(entry.to_date);
  // The last state of a run that has ended lasts no time that anybody waits for.
  const until = end?.getTime() ?? (subject === 'run' && !isActive(status) ? null : now);
  return (
    <tr>
      <td>
        {subject === 'run' ? t.run : node === null ? t.cluster : t.node(node)}
        {hadRun && <span className={table['soft']}> {t.ranHere}</span>}
      </td>
      <td>
        <StateBadge state={status} of={subject === 'run' ? 'run' : 'cluster'} isOver={end !== null} />
      </td>
      <td>{from && exactTime(from)}</td>
      <td className={table['number']}>
        {from && until !== null ? durationText(until - from.getTime()) : texts.time.never}
      </td>
      <td>{by ?? <span className={table['soft']}>{t.platform}</span>}</td>
      <td className="mono">{step}</td>
      <td>{reason}</td>
    </tr>
  );
}
