import { Button } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { KeysetResultSet, RunList, RunListEntry } from 'managed-spark/types';
import { type ReactNode, useMemo } from 'react';
import { ChoiceFilter } from '../../shared/choice-filter';
import { type Column, DataTable } from '../../shared/data-table';
import { EmptyState } from '../../shared/empty-state';
import styles from '../../shared/list-screen.module.css';
import { MultiFilter } from '../../shared/multi-filter';
import { Page } from '../../shared/page';
import { ProblemPanel } from '../../shared/problem-panel';
import { workspacesQuery } from '../../shared/records';
import { SearchField } from '../../shared/search-field';
import { StateBadge } from '../../shared/state-badge';
import { texts } from '../../shared/texts';
import { dateOf, durationText, RelativeTime, useNow } from '../../shared/time';
import { useMore } from '../../shared/use-more';
import { runsHeadQuery, runsQuery } from './runs-api';
import { readRunsSearch, RUN_STATUSES, type RunsSearch } from './runs-search';

const STATUS_OPTIONS = RUN_STATUSES.map((status) => ({ value: status, label: <StateBadge state={status} /> }));

export function RunsScreen(): ReactNode {
  const search = useSearch({ from: '/runs' });
  const navigate = useNavigate({ from: '/runs' });
  const now = useNow(1_000);
  const pages = useInfiniteQuery(runsQuery(search));
  const head = useQuery(runsHeadQuery(search));
  const rows = useMemo(() => merged(head.data, pages.data?.pages ?? []), [head.data, pages.data]);
  const more = useMore(pages);
  const columns = useMemo(() => columnsAt(now), [now]);
  const error = head.error ?? pages.error;
  const sorting = { by: search.sort ?? 'submit_date', order: search.order ?? 'desc' };
  return (
    <Page title={texts.runs.title} fill>
      <Filters search={search} count={head.data?.result_set} />
      {error && <ProblemPanel error={error} onRetry={() => void head.refetch()} />}
      {rows?.length === 0 && <NoRuns search={search} />}
      {rows && rows.length > 0 && (
        <DataTable
          label={texts.runs.title}
          columns={columns}
          rows={rows}
          total={head.data?.result_set.total_objects ?? rows.length}
          keyOf={({ resource, run_id: id }) => `${resource} ${id}`}
          sorting={sorting}
          onSort={({ by, order }) =>
            void navigate({ search: (before) => readRunsSearch({ ...before, sort: by, order }), replace: true })
          }
          onEnd={more}
        />
      )}
    </Page>
  );
}

/**
 * Returns the rows of all pages, the first of them as they are now: new runs come first, and those that no longer match are gone.
 * Returns null until there are any.
 */
function merged(head: RunList | undefined, pages: readonly RunList[]): RunListEntry[] | null {
  if (!head) return pages.length > 0 ? pages.flatMap(({ data }) => data) : null;
  if (head.result_set.next === null) return head.data;
  const all = pages.flatMap(({ data }) => data);
  const last = head.data.at(-1);
  const known = new Set(head.data.map(({ run_id: id }) => id));
  const position = all.findIndex(({ run_id: id }) => id === last?.run_id);
  return [...head.data, ...all.slice(position + 1).filter(({ run_id: id }) => !known.has(id))];
}

function NoRuns({ search: { sort: _sort, order: _order, ...filters } }: { search: RunsSearch }): ReactNode {
  return Object.keys(filters).length === 0 ? (
    <EmptyState
      icon="runs"
      title={texts.runs.emptyTitle}
      hint={texts.runs.emptyHint}
      example={texts.runs.emptyExample}
    />
  ) : (
    <EmptyState icon="search" title={texts.runs.filteredTitle} hint={texts.runs.filteredHint} />
  );
}

interface FiltersProps {
  search: RunsSearch;
  count: KeysetResultSet | undefined;
}

function Filters({ search, count }: FiltersProps): ReactNode {
  const navigate = useNavigate({ from: '/runs' });
  const { data: workspaces } = useQuery(workspacesQuery('all'));
  const change = (part: Partial<RunsSearch>) =>
    void navigate({ search: (before) => readRunsSearch({ ...before, ...part }), replace: true });
  const { sort: _sort, order: _order, ...filters } = search;
  return (
    <div className={styles['filters']} role="search">
      <SearchField label={texts.runs.search} value={search.q} onChange={(q) => change({ q })} />
      <ChoiceFilter
        label={texts.runs.workspace}
        options={[
          { value: null, label: texts.runs.allWorkspaces },
          ...(workspaces ?? []).map(({ workspace_id: value, name: label }) => ({ value, label })),
        ]}
        selected={search.workspace ?? null}
        onChange={(workspace) => change({ workspace: workspace ?? undefined })}
      />
      <MultiFilter
        label={texts.runs.status}
        options={STATUS_OPTIONS}
        selected={search.status ?? []}
        onChange={(chosen) => change({ status: RUN_STATUSES.filter((status) => chosen.includes(status)) })}
      />
      {Object.keys(filters).length > 0 && (
        <Button
          variant="subtle"
          color="gray"
          onClick={() => {
            void navigate({ search: { sort: search.sort, order: search.order }, replace: true });
          }}
        >
          {texts.runs.clear}
        </Button>
      )}
      {count?.total_objects !== undefined && count.total_objects !== null && (
        <span className={styles['count']}>{texts.runs.count(count.total_objects, count.total_is_lower_bound)}</span>
      )}
    </div>
  );
}

function columnsAt(now: number): Column<RunListEntry>[] {
  return [
    {
      id: 'status',
      header: texts.runs.columns.status,
      width: '132px',
      cell: ({ run_status: status }) => <StateBadge state={status} />,
    },
    {
      id: 'run',
      header: texts.runs.columns.run,
      width: 'minmax(220px, 2.4fr)',
      cell: (run) => <RunName run={run} />,
    },
    {
      id: 'workspace',
      header: texts.runs.columns.workspace,
      width: 'minmax(110px, 1fr)',
      cell: ({ workspace: { name } }) => <span className={styles['soft']}>{name}</span>,
    },
    {
      id: 'cluster',
      header: texts.runs.columns.cluster,
      width: 'minmax(100px, 0.9fr)',
      cell: ({ cluster: { name } }) => <span className={styles['soft']}>{name}</span>,
    },
    {
      id: 'by',
      header: texts.runs.columns.by,
      width: 'minmax(90px, 0.8fr)',
      cell: ({ created_by: by }) => <span className={styles['soft']}>{by?.username ?? texts.time.never}</span>,
    },
    {
      id: 'submit_date',
      header: texts.runs.columns.started,
      width: '120px',
      align: 'end',
      isSortable: true,
      cell: ({ submit_date: at }) => <RelativeTime at={at} now={now} />,
    },
    {
      id: 'duration',
      header: texts.runs.columns.duration,
      width: '116px',
      align: 'end',
      isSortable: true,
      cell: (run) => durationText(durationOf(run, now)),
    },
  ];
}

/** The name leads to the run, and why it failed stands behind it. */
function RunName({ run }: { run: RunListEntry }): ReactNode {
  const { run_id: id, reason, reason_code: code } = run;
  return (
    <>
      <NameLink run={run} /> <span className={styles['id']}>#{id}</span>
      {reason !== null && code !== 'COMPLETED' && (
        <span className={styles['aside']} title={reason}>
          {reason}
        </span>
      )}
    </>
  );
}

function NameLink({ run }: { run: RunListEntry }): ReactNode {
  const { name, resource, workspace, run_id: runId } = run;
  if (resource !== 'job') return <span className={styles['name']}>{name}</span>;
  const params = { workspaceId: workspace.workspace_id, runId };
  return (
    <Link to="/runs/$workspaceId/$runId" params={params} className={styles['name']}>
      {name}
    </Link>
  );
}

/** Returns milliseconds since the start; -1 for a run that has never started. */
function durationOf({ duration_ms: known, start_date: start }: RunListEntry, now: number): number {
  const startedAt = dateOf(start)?.getTime();
  return known ?? (startedAt === undefined ? -1 : Math.max(0, now - startedAt));
}
