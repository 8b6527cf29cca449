import { ActionIcon, Button, Menu, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { WorkspaceRead } from 'managed-spark/types';
import { type ReactNode, useMemo, useState } from 'react';
import { ActionButton, ActionItem } from '../../shared/action-button';
import { type Column, DataTable } from '../../shared/data-table';
import { EmptyState } from '../../shared/empty-state';
import { Icon } from '../../shared/icons';
import { Page } from '../../shared/page';
import { ProblemPanel } from '../../shared/problem-panel';
import { workspacesQuery } from '../../shared/records';
import { useMay } from '../../shared/rights/use-may';
import { SearchField } from '../../shared/search-field';
import { texts } from '../../shared/texts';
import { RelativeTime, useNow } from '../../shared/time';
import { Question } from '../../shared/question';
import { changeWorkspace, makeWorkspace, switchWorkspace } from './workspaces-api';
import { readWorkspacesSearch } from './workspaces-search';
import list from '../../shared/list-screen.module.css';

type Asked = { what: 'create' } | { what: 'edit' | 'disable'; workspace: WorkspaceRead };

const t = texts.workspaces;

export function WorkspacesScreen(): ReactNode {
  const { q = '', disabled } = useSearch({ from: '/workspaces' });
  const navigate = useNavigate({ from: '/workspaces' });
  const now = useNow(10_000);
  const {
    data: all,
    error,
    refetch,
  } = useQuery({
    ...workspacesQuery(disabled === undefined ? 'enabled' : 'disabled'),
    staleTime: 0,
  });
  const uncreatable = useMay('createWorkspace');
  const [asked, setAsked] = useState<Asked | null>(null);
  const rows = useMemo(() => all?.filter(({ name }) => name.includes(q.toLowerCase())), [all, q]);
  const columns = useMemo(() => columnsAt(now, setAsked), [now]);
  const change = (part: object) =>
    void navigate({ search: (before) => readWorkspacesSearch({ ...before, ...part }), replace: true });
  return (
    <Page
      title={t.title}
      actions={
        <ActionButton
          why={uncreatable}
          leftSection={<Icon name="plus" size={14} />}
          onClick={() => setAsked({ what: 'create' })}
        >
          {t.create}
        </ActionButton>
      }
      fill
    >
      <div className={list['filters']} role="search">
        <SearchField label={t.search} value={q} delayMs={0} onChange={(typed) => change({ q: typed })} />
        <Button
          variant={disabled ? 'light' : 'default'}
          aria-pressed={disabled !== undefined}
          onClick={() => change({ disabled: disabled ? undefined : 'true' })}
        >
          {t.showDisabled}
        </Button>
      </div>
      {error && <ProblemPanel error={error} onRetry={() => void refetch()} />}
      {rows?.length === 0 && (
        <EmptyState
          icon={q === '' ? 'folder' : 'search'}
          title={q === '' ? t.none : t.noneFound}
          hint={q === '' ? t.noneHint : t.noneFoundHint}
        />
      )}
      {rows && rows.length > 0 && (
        <DataTable label={t.title} columns={columns} rows={rows} keyOf={({ workspace_id: id }) => id} />
      )}
      {asked && <WorkspaceQuestion asked={asked} onClose={() => setAsked(null)} />}
    </Page>
  );
}

function columnsAt(now: number, ask: (asked: Asked) => void): Column<WorkspaceRead>[] {
  return [
    {
      id: 'name',
      header: t.columns.name,
      width: 'minmax(200px, 1.4fr)',
      cell: ({ workspace_id: workspaceId, name }) => (
        <Link to="/workspaces/$workspaceId" params={{ workspaceId }} className={list['name']}>
          {name}
        </Link>
      ),
    },
    {
      id: 'description',
      header: t.columns.description,
      width: 'minmax(200px, 2fr)',
      cell: ({ description }) => <span className={list['soft']}>{description}</span>,
    },
    {
      id: 'by',
      header: t.columns.by,
      width: 'minmax(100px, 0.8fr)',
      cell: ({ created_by: by }) => <span className={list['soft']}>{by?.username ?? texts.time.never}</span>,
    },
    {
      id: 'changed',
      header: t.columns.changed,
      width: '120px',
      align: 'end',
      cell: ({ last_update_date: at }) => <RelativeTime at={at} now={now} />,
    },
    {
      id: 'actions',
      header: texts.workspaces.actions,
      width: '56px',
      align: 'end',
      cell: (workspace) => <RowMenu workspace={workspace} ask={ask} />,
    },
  ];
}

function RowMenu({ workspace, ask }: { workspace: WorkspaceRead; ask: (asked: Asked) => void }): ReactNode {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon className={list['above']} variant="subtle" color="gray" aria-label={`${t.more}: ${workspace.name}`}>
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <RowItems workspace={workspace} ask={ask} />
      </Menu.Dropdown>
    </Menu>
  );
}

/** The items are made when the menu opens, so a list of workspaces asks for no rights. */
function RowItems({ workspace, ask }: { workspace: WorkspaceRead; ask: (asked: Asked) => void }): ReactNode {
  const queries = useQueryClient();
  const isEnabled = workspace.to_date === null || workspace.to_date === 'infinity';
  const why = useMay(['updateWorkspace', 'enableWorkspace', 'disableWorkspace'], workspace.workspace_id);
  const enable = async () => {
    await switchWorkspace(workspace, true);
    await queries.invalidateQueries({ queryKey: ['workspaces'] });
  };
  return (
    <>
      <ActionItem why={why} onClick={() => ask({ what: 'edit', workspace })}>
        {t.edit}
      </ActionItem>
      {isEnabled ? (
        <ActionItem why={why} color="var(--failed)" onClick={() => ask({ what: 'disable', workspace })}>
          {t.disable}
        </ActionItem>
      ) : (
        <ActionItem why={why} onClick={() => void enable()}>
          {t.enable}
        </ActionItem>
      )}
    </>
  );
}

function WorkspaceQuestion({ asked, onClose }: { asked: Asked; onClose: () => void }): ReactNode {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const changed = asked.what === 'create' ? null : asked.workspace;
  const [name, setName] = useState(changed?.name ?? '');
  const [description, setDescription] = useState(changed?.description ?? '');
  const act = async () => {
    const fields = { name: name.trim(), description: description.trim() || null };
    if (asked.what === 'edit') await changeWorkspace(asked.workspace, fields);
    else if (asked.what === 'disable') await switchWorkspace(asked.workspace, false);
    else await navigate({ to: '/workspaces/$workspaceId', params: { workspaceId: await makeWorkspace(fields) } });
    await Promise.all(['workspaces', 'workspace'].map((key) => queries.invalidateQueries({ queryKey: [key] })));
  };
  if (asked.what === 'disable') {
    return (
      <Question
        title={t.disableTitle(asked.workspace.name)}
        confirm={t.disableConfirm}
        isDangerous
        act={act}
        onClose={onClose}
      >
        <p>{t.disableHint}</p>
      </Question>
    );
  }
  return (
    <Question
      title={asked.what === 'create' ? t.createTitle : t.editTitle}
      confirm={asked.what === 'create' ? t.create : t.save}
      isReady={/^[a-z0-9.@_-]{1,64}$/.test(name.trim())}
      act={act}
      onClose={onClose}
    >
      {asked.what === 'create' && <p className={list['soft']}>{t.createHint}</p>}
      <TextInput
        label={t.name}
        description={t.nameHint}
        value={name}
        onChange={({ currentTarget: { value } }) => setName(value)}
        data-autofocus
      />
      <TextInput
        label={t.description}
        value={description}
        onChange={({ currentTarget: { value } }) => setDescription(value)}
      />
    </Question>
  );
}
