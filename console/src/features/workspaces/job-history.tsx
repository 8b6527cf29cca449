import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JobRead } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { EmptyState } from '../../shared/empty-state';
import { JobChanges } from '../../shared/jobs/job-changes';
import { ProblemPanel } from '../../shared/problem-panel';
import plain from '../../shared/plain-table.module.css';
import { StateBadge } from '../../shared/state-badge';
import { texts } from '../../shared/texts';
import { RelativeTime, useNow } from '../../shared/time';
import { jobRunsQuery } from './jobs-api';

const t = texts.workspaces.job;

/** The runs of a job, each with what its settings differ in from those of the run before. */
export function JobHistory({ workspaceId, jobId }: { workspaceId: number; jobId: number }): ReactNode {
  const now = useNow(10_000);
  const { data: runs, error, refetch } = useQuery(jobRunsQuery(workspaceId, jobId));
  if (error) return <ProblemPanel error={error} onRetry={() => void refetch()} />;
  if (runs?.length === 0) return <EmptyState icon="runs" title={t.noRuns} hint={t.noRunsHint} />;
  return (
    <div className={plain['frame']}>
      <table className={plain['table']}>
        <thead>
          <tr>
            <th>{t.columns.run}</th>
            <th>{t.columns.status}</th>
            <th>{t.columns.when}</th>
            <th>{t.columns.by}</th>
            <th>{t.columns.changes}</th>
          </tr>
        </thead>
        <tbody>
          {runs?.map((run, index) => (
            <tr key={run.job_id}>
              <td>
                <Link to="/runs/$workspaceId/$runId" params={{ workspaceId, runId: run.job_id }}>
                  #{run.job_id}
                </Link>
              </td>
              <td>
                <StateBadge state={run.job_status} />
              </td>
              <td>
                <RelativeTime at={run.from_date} now={now} />
              </td>
              <td>{run.created_by?.username ?? texts.time.never}</td>
              <td>
                <Changes run={run} before={runs[index + 1]} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Changes({ run, before }: { run: JobRead; before: JobRead | undefined }): ReactNode {
  if (!before) return <span className={plain['soft']}>{t.first}</span>;
  return <JobChanges before={before} after={run} none={<span className={plain['soft']}>{t.same}</span>} />;
}
