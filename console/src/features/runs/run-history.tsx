import { useQuery } from '@tanstack/react-query';
import type { JobRead } from 'managed-spark/types';
import type { ReactNode } from 'react';
import table from '../../shared/plain-table.module.css';
import { StateBadge } from '../../shared/state-badge';
import { texts } from '../../shared/texts';
import { dateOf, durationText, exactTime } from '../../shared/time';
import { historyQuery, type RunKey } from './run-api';
import { isActive } from './runs-search';

/** Every state of a run with its reason, the newest first. */
export function RunHistory({ run, runKey, now }: { run: JobRead; runKey: RunKey; now: number }): ReactNode {
  const { data: history } = useQuery(historyQuery(runKey, run.job_status));
  const { state, since, for: lasted, reason: why } = texts.run.history;
  return (
    <div className={table['frame']}>
      <table className={table['table']}>
        <thead>
          <tr>
            <th>{state}</th>
            <th>{since}</th>
            <th className={table['number']}>{lasted}</th>
            <th>{why}</th>
          </tr>
        </thead>
        <tbody>
          {history?.status_history.toReversed().map(({ job_status: status, from_date, to_date, reason }) => {
            const from = dateOf(from_date);
            const end = dateOf(to_date)?.getTime() ?? (isActive(status) ? now : null);
            return (
              <tr key={`${status} ${from_date}`}>
                <td>
                  <StateBadge state={status} isOver={to_date !== null} />
                </td>
                <td>{from && exactTime(from)}</td>
                <td className={table['number']}>
                  {from && end !== null ? durationText(end - from.getTime()) : texts.time.never}
                </td>
                <td>{reason}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
