import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JobRead } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { EmptyState } from '../../shared/empty-state';
import { ProblemPanel } from '../../shared/problem-panel';
import plain from '../../shared/plain-table.module.css';
import { StateBadge } from '../../shared/state-badge';
import { texts } from '../../shared/texts';
import { RelativeTime, useNow } from '../../shared/time';
import { differences, valuesOf } from './job-fields';
import { jobRunsQuery } from './jobs-api';
import styles from './job-history.module.css';

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
  const changed = differences(settingsOf(before), settingsOf(run));
  if (changed.length === 0) return <span className={plain['soft']}>{t.same}</span>;
  return (
    <dl className={styles['changes']}>
      {changed.map(({ name, before: old, after }) => (
        <div key={name} className={styles['change']}>
          <dt>{t.fields[name][0]}</dt>
          <dd>
            <del>{old || t.unset}</del> <ins>{after || t.unset}</ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A run may have arguments and properties of its own. */
function settingsOf({ job_conf: conf, arguments: given, conf: properties }: JobRead) {
  return valuesOf({ ...conf, arguments: given ?? conf.arguments, conf: properties ?? conf.conf });
}
