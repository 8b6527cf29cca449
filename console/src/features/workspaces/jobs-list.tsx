import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { JobConfListItem } from 'managed-spark/types';
import { type ReactNode, useMemo } from 'react';
import { ActionButton } from '../../shared/action-button';
import { type Column, DataTable } from '../../shared/data-table';
import { EmptyState } from '../../shared/empty-state';
import { Icon } from '../../shared/icons';
import { ProblemPanel } from '../../shared/problem-panel';
import { useMay } from '../../shared/rights/use-may';
import { SearchField } from '../../shared/search-field';
import { StateBadge } from '../../shared/state-badge';
import { texts } from '../../shared/texts';
import { RelativeTime, useNow } from '../../shared/time';
import { LANGUAGES } from '../../shared/jobs/job-fields';
import { jobsQuery } from './jobs-api';
import { readWorkspaceSearch } from './workspaces-search';
import list from '../../shared/list-screen.module.css';

const t = texts.workspaces.jobs;

/** The jobs of a workspace: what can run, on which cluster, and how the last run ended. */
export function JobsList({ workspaceId }: { workspaceId: number }): ReactNode {
  const { q = '' } = useSearch({ from: '/workspaces/$workspaceId' });
  const navigate = useNavigate({ from: '/workspaces/$workspaceId' });
  const now = useNow(10_000);
  const { data: all, error, refetch } = useQuery(jobsQuery(workspaceId));
  const rows = useMemo(() => all?.filter(({ name }) => name.includes(q.toLowerCase())), [all, q]);
  const columns = useMemo(() => columnsAt(now, workspaceId), [now, workspaceId]);
  const why = useMay('createJobConf', workspaceId);
  const create = (
    <ActionButton
      why={why}
      leftSection={<Icon name="plus" size={14} />}
      onClick={() => void navigate({ to: '/workspaces/$workspaceId/jobs/new', params: { workspaceId } })}
    >
      {t.create}
    </ActionButton>
  );
  return (
    <>
      <div className={list['filters']} role="search">
        <SearchField
          label={t.search}
          value={q}
          delayMs={0}
          onChange={(typed) =>
            void navigate({ search: (before) => readWorkspaceSearch({ ...before, q: typed }), replace: true })
          }
        />
        {create}
      </div>
      {error && <ProblemPanel error={error} onRetry={() => void refetch()} />}
      {rows?.length === 0 && (
        <EmptyState
          icon={q === '' ? 'jobs' : 'search'}
          title={q === '' ? t.none : t.noneFound}
          hint={q === '' ? t.noneHint : t.noneFoundHint}
        />
      )}
      {rows && rows.length > 0 && (
        <DataTable label={t.label} columns={columns} rows={rows} keyOf={({ job_conf_id: id }) => id} />
      )}
    </>
  );
}

function columnsAt(now: number, workspaceId: number): Column<JobConfListItem>[] {
  return [
    {
      id: 'name',
      header: t.columns.name,
      width: 'minmax(200px, 1.6fr)',
      cell: ({ job_conf_id: jobId, name }) => (
        <Link to="/workspaces/$workspaceId/jobs/$jobId" params={{ workspaceId, jobId }} className={list['name']}>
          {name}
        </Link>
      ),
    },
    {
      id: 'program',
      header: t.columns.program,
      width: 'minmax(160px, 1.4fr)',
      cell: (job) => <span className={list['soft']}>{programOf(job)}</span>,
    },
    {
      id: 'type',
      header: t.columns.type,
      width: '130px',
      cell: ({ spark_job_type: { language } }) => <span className={list['soft']}>{typeText(language)}</span>,
    },
    {
      id: 'cluster',
      header: t.columns.cluster,
      width: 'minmax(100px, 1fr)',
      cell: ({ cluster_info: { name } }) => <span className={list['soft']}>{name}</span>,
    },
    {
      id: 'last',
      header: t.columns.last,
      width: '150px',
      cell: ({ last_job_run: last }) =>
        last ? (
          <Link to="/runs/$workspaceId/$runId" params={{ workspaceId, runId: last.job_id }} className={list['above']}>
            <StateBadge state={last.job_status} />
          </Link>
        ) : (
          <span className={list['faint']}>{t.neverRun}</span>
        ),
    },
    {
      id: 'changed',
      header: t.columns.changed,
      width: '110px',
      align: 'end',
      cell: ({ last_update_date: at }) => <RelativeTime at={at} now={now} />,
    },
  ];
}

function programOf({ command, rawScalaCode: code, platform_functions_script_path: script }: JobConfListItem): string {
  return command ?? script ?? code?.trim().split('\n')[0] ?? '';
}

export function typeText(language: string): string {
  const known = LANGUAGES.find((one) => one === language);
  return known ? texts.workspaces.job.types[known] : language;
}
