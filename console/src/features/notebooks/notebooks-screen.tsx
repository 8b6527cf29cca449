import { FileButton } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { NotebookListEntry, NotebookType } from 'managed-spark/types';
import { type ReactNode, useMemo, useState } from 'react';
import { ActionButton } from '../../shared/action-button';
import { ChoiceFilter } from '../../shared/choice-filter';
import { type Column, DataTable } from '../../shared/data-table';
import { EmptyState } from '../../shared/empty-state';
import { Icon } from '../../shared/icons';
import { notebookTexts as t } from '../../shared/notebook-texts';
import { Page } from '../../shared/page';
import { ProblemPanel } from '../../shared/problem-panel';
import { workspacesQuery } from '../../shared/records';
import { useMay } from '../../shared/rights/use-may';
import { SearchField } from '../../shared/search-field';
import { StateBadge } from '../../shared/state-badge';
import { RelativeTime, useNow } from '../../shared/time';
import { useMore } from '../../shared/use-more';
import { CreateNotebook } from './create-notebook';
import { notebooksQuery } from './notebooks-list-api';
import { readNotebooksSearch } from './notebooks-search';
import { languageIn } from './ipynb-language';
import list from '../../shared/list-screen.module.css';

interface Asked {
  imported: { file: File; language: NotebookType } | null;
}

/** The notebooks of all workspaces that the user may see. */
export function NotebooksScreen(): ReactNode {
  const search = useSearch({ from: '/notebooks' });
  const navigate = useNavigate({ from: '/notebooks' });
  const now = useNow(10_000);
  const pages = useInfiniteQuery(notebooksQuery(search));
  const { data, error, refetch } = pages;
  const more = useMore(pages);
  const { data: workspaces = [] } = useQuery(workspacesQuery('enabled'));
  const [asked, setAsked] = useState<Asked | null>(null);
  const columns = useMemo(() => columnsAt(now), [now]);
  const rows = useMemo(() => data?.pages.flatMap((page) => page.data), [data]);
  const total = data?.pages.at(-1)?.result_set.total_objects;
  const isFiltered = search.q !== undefined || search.workspace !== undefined;
  const change = (part: { q?: string; workspace?: number | undefined }) =>
    void navigate({ search: (before) => readNotebooksSearch({ ...before, ...part }), replace: true });
  return (
    <Page title={t.title} actions={<Actions workspaceId={search.workspace} onAsk={setAsked} />} fill>
      <div className={list['filters']} role="search">
        <SearchField label={t.search} value={search.q ?? ''} onChange={(typed) => change({ q: typed })} />
        <ChoiceFilter
          label={t.workspace}
          icon="folder"
          options={[
            { value: null, label: t.allWorkspaces },
            ...workspaces.map(({ workspace_id: value, name: label }) => ({ value, label })),
          ]}
          selected={search.workspace ?? null}
          onChange={(workspace) => change({ workspace: workspace ?? undefined })}
        />
      </div>
      {error && <ProblemPanel error={error} onRetry={() => void refetch()} />}
      {rows?.length === 0 && <NoNotebooks isFiltered={isFiltered} />}
      {rows && rows.length > 0 && (
        <DataTable
          label={t.title}
          columns={columns}
          rows={rows}
          total={total}
          keyOf={({ notebook_conf_id: id }) => id}
          onEnd={more}
        />
      )}
      {asked && (
        <CreateNotebook workspaceId={search.workspace} imported={asked.imported} onClose={() => setAsked(null)} />
      )}
    </Page>
  );
}

interface ActionsProps {
  /** The workspace that the list is filtered by. The dialog asks for it otherwise, and checks the right then. */
  workspaceId: number | undefined;
  onAsk: (asked: Asked) => void;
}

function Actions({ workspaceId, onAsk }: ActionsProps): ReactNode {
  const why = useMay('createNotebookConf', workspaceId);
  return (
    <>
      <FileButton
        accept=".ipynb"
        onChange={(file) => {
          if (file) void languageIn(file).then((language) => onAsk({ imported: { file, language } }));
        }}
      >
        {(props) => (
          <ActionButton variant="default" {...props} why={why}>
            {t.import}
          </ActionButton>
        )}
      </FileButton>
      <ActionButton why={why} leftSection={<Icon name="plus" size={14} />} onClick={() => onAsk({ imported: null })}>
        {t.create}
      </ActionButton>
    </>
  );
}

function NoNotebooks({ isFiltered }: { isFiltered: boolean }): ReactNode {
  return isFiltered ? (
    <EmptyState icon="search" title={t.noneFound} hint={t.noneFoundHint} />
  ) : (
    <EmptyState icon="notebook" title={t.none} hint={t.noneHint} />
  );
}

function columnsAt(now: number): Column<NotebookListEntry>[] {
  return [
    {
      id: 'name',
      header: t.columns.name,
      width: 'minmax(200px, 1.6fr)',
      cell: ({ notebook_conf_id: notebookConfId, notebook_name: name, workspace: { workspace_id: workspaceId } }) => (
        <Link
          to="/notebooks/$workspaceId/$notebookConfId"
          params={{ workspaceId, notebookConfId }}
          className={list['name']}
        >
          {name}
        </Link>
      ),
    },
    {
      id: 'workspace',
      header: t.columns.workspace,
      width: 'minmax(120px, 1fr)',
      cell: ({ workspace: { name } }) => <span className={list['soft']}>{name}</span>,
    },
    {
      id: 'language',
      header: t.columns.language,
      width: '100px',
      cell: ({ notebook_type: type }) => <span className={list['soft']}>{t.languages[type]}</span>,
    },
    {
      id: 'cluster',
      header: t.columns.cluster,
      width: 'minmax(100px, 1fr)',
      cell: ({ cluster: { name } }) => <span className={list['soft']}>{name}</span>,
    },
    {
      id: 'state',
      header: t.columns.state,
      width: '140px',
      cell: ({ last_notebook_run: last }) =>
        last ? <StateBadge state={last.notebook_status} /> : <span className={list['faint']}>{t.neverStarted}</span>,
    },
    {
      id: 'by',
      header: t.columns.by,
      width: 'minmax(100px, 0.8fr)',
      cell: ({ modified_by: by }) => <span className={list['soft']}>{by?.username}</span>,
    },
    {
      id: 'changed',
      header: t.columns.changed,
      width: '120px',
      align: 'end',
      cell: ({ last_update_date: at }) => <RelativeTime at={at} now={now} />,
    },
  ];
}
