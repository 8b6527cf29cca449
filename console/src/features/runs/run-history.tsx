import { useQuery } from '@tanstack/react-query';
import type { JobRead, RunTimelineEntry } from 'managed-spark/types';
import type { ReactNode } from 'react';
import table from '../../shared/plain-table.module.css';
import { type StateEntry, StateHistory } from '../../shared/state-history';
import { texts } from '../../shared/texts';
import { type RunKey, timelineQuery } from './run-api';
import { isActive } from './runs-search';

const t = texts.run.history;

/** Every state of a run, and those of its cluster and nodes meanwhile, the newest first, with who caused it, at which step and why. */
export function RunHistory({ run, runKey, now }: { run: JobRead; runKey: RunKey; now: number }): ReactNode {
  const { data: timeline } = useQuery(timelineQuery(runKey, run.job_status));
  return (
    <>
      <StateHistory subject={t.subject} entries={timeline?.entries.toReversed().map(entryOf) ?? []} now={now} />
      {timeline?.is_truncated === true && <p>{t.truncated}</p>}
    </>
  );
}

function entryOf(entry: RunTimelineEntry, key: number): StateEntry {
  const { subject, node_number: node, is_node_of_run: hadRun, status, created_by: by, reason, step } = entry;
  const isOfRun = subject === 'run';
  return {
    key,
    subject: (
      <>
        {isOfRun ? t.run : node === null ? t.cluster : t.node(node)}
        {hadRun && <span className={table['soft']}> {t.ranHere}</span>}
      </>
    ),
    state: status,
    of: isOfRun ? 'run' : 'cluster',
    from: entry.from_date,
    to: entry.to_date,
    isFinal: isOfRun && !isActive(status),
    ...{ by, step, reason },
  };
}
