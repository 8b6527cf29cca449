import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { GroupRead } from 'managed-spark/types';
import { type ReactNode, useMemo } from 'react';
import { ActionButton } from '../../shared/action-button';
import { adminTexts } from '../../shared/admin-texts';
import { commonTexts } from '../../shared/common-texts';
import { type Column, DataTable } from '../../shared/data-table';
import { EmptyState } from '../../shared/empty-state';
import { Icon } from '../../shared/icons';
import { Pager } from '../../shared/pager';
import { ProblemPanel } from '../../shared/problem-panel';
import { useMay } from '../../shared/rights/use-may';
import { SearchField } from '../../shared/search-field';
import { RelativeTime, useNow } from '../../shared/time';
import list from '../../shared/list-screen.module.css';
import { AdminPage } from './admin-page';
import { type AdminSearch, readAdminSearch } from './admin-search';
import { CreateGroupDialog } from './create-group-dialog';
import { GroupDrawer } from './group-drawer';
import { groupsQuery } from './people-api';
import { ScopeChoice } from './scope-choice';

const texts = adminTexts.groups;

export function GroupsScreen(): ReactNode {
  const search = useSearch({ from: '/admin/groups' });
  const navigate = useNavigate({ from: '/admin/groups' });
  const now = useNow(30_000);
  const [isCreating, creating] = useDisclosure(false);
  const why = useMay('createGroup');
  const { data: page, error, refetch } = useQuery(groupsQuery(search));
  const change = (part: Partial<AdminSearch>, isNewView = false) =>
    void navigate({ search: (before) => readAdminSearch({ ...before, ...part }), replace: !isNewView });
  const columns = useMemo(
    () => columnsAt(now, (open) => void navigate({ search: (before) => ({ ...before, open }) })),
    [now, navigate],
  );
  return (
    <AdminPage
      section="groups"
      actions={
        <ActionButton why={why} leftSection={<Icon name="plus" size={14} />} onClick={creating.open}>
          {texts.create}
        </ActionButton>
      }
    >
      <div className={list['filters']} role="search">
        <SearchField label={texts.search} value={search.q} onChange={(q) => change({ q, page: undefined })} />
        <ScopeChoice search={search} change={change} />
      </div>
      {error && <ProblemPanel error={error} onRetry={() => void refetch()} />}
      {page && page.data.length > 0 && (
        <DataTable
          label={adminTexts.sections.groups}
          columns={columns}
          rows={page.data}
          total={page.result_set.total_objects}
          keyOf={({ group_id: id }) => id}
        />
      )}
      {page?.data.length === 0 && (
        <EmptyState
          icon="people"
          title={search.q === undefined ? texts.emptyTitle : adminTexts.filteredTitle}
          hint={search.q === undefined ? texts.emptyHint : adminTexts.filteredHint}
        />
      )}
      <Pager of={page?.result_set} onPage={(next) => change({ page: next })} />
      {isCreating && <CreateGroupDialog onClose={creating.close} />}
      {search.open !== undefined && (
        <GroupDrawer groupId={search.open} onClose={() => change({ open: undefined }, true)} />
      )}
    </AdminPage>
  );
}

function columnsAt(now: number, open: (id: number) => void): Column<GroupRead>[] {
  return [
    {
      id: 'name',
      header: texts.columns.name,
      width: 'minmax(180px, 1.4fr)',
      cell: ({ group_id: id, group_name: name }) => (
        <button type="button" className={list['name']} onClick={() => open(id)}>
          {name}
        </button>
      ),
    },
    {
      id: 'mail',
      header: texts.columns.mail,
      width: 'minmax(180px, 1.6fr)',
      cell: ({ group_mail: mail }) => <span className={list['soft']}>{mail ?? commonTexts.none}</span>,
    },
    {
      id: 'origin',
      header: texts.columns.origin,
      width: '160px',
      cell: ({ group_type: type }) => <span className={list['soft']}>{type ?? texts.builtIn}</span>,
    },
    {
      id: 'since',
      header: texts.columns.since,
      width: '120px',
      align: 'end',
      cell: ({ from_date: at }) => <RelativeTime at={at} now={now} />,
    },
  ];
}
