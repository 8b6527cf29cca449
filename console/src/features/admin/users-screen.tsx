import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { UserRead } from 'managed-spark/types';
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
import { dateOf, RelativeTime, useNow } from '../../shared/time';
import list from '../../shared/list-screen.module.css';
import { AdminPage } from './admin-page';
import { type AdminSearch, readAdminSearch } from './admin-search';
import { CreateUserDialog } from './create-user-dialog';
import { EnabledBadge } from './enabled-badge';
import { groupQuery, usersQuery } from './people-api';
import { ScopeChoice } from './scope-choice';
import { UserDrawer } from './user-drawer';

const texts = adminTexts.users;

export function UsersScreen(): ReactNode {
  const search = useSearch({ from: '/admin/users' });
  const navigate = useNavigate({ from: '/admin/users' });
  const now = useNow(30_000);
  const [isCreating, creating] = useDisclosure(false);
  const why = useMay('createUser');
  const { data: page, error, refetch } = useQuery(usersQuery(search));
  const change = (part: Partial<AdminSearch>, isNewView = false) =>
    void navigate({ search: (before) => readAdminSearch({ ...before, ...part }), replace: !isNewView });
  const columns = useMemo(
    () => columnsAt(now, (open) => void navigate({ search: (before) => ({ ...before, open }) })),
    [now, navigate],
  );
  const isFiltered = search.q !== undefined || search.group !== undefined;
  return (
    <AdminPage
      section="users"
      actions={
        <ActionButton why={why} leftSection={<Icon name="plus" size={14} />} onClick={creating.open}>
          {texts.create}
        </ActionButton>
      }
    >
      <Filters search={search} change={change} />
      {error && <ProblemPanel error={error} onRetry={() => void refetch()} />}
      {page && page.data.length > 0 && (
        <DataTable
          label={adminTexts.sections.users}
          columns={columns}
          rows={page.data}
          total={page.result_set.total_objects}
          keyOf={({ user_id: id }) => id}
        />
      )}
      {page?.data.length === 0 && (
        <EmptyState
          icon="people"
          title={isFiltered ? adminTexts.filteredTitle : texts.emptyTitle}
          hint={isFiltered ? adminTexts.filteredHint : texts.emptyHint}
        />
      )}
      <Pager of={page?.result_set} onPage={(next) => change({ page: next })} />
      {isCreating && <CreateUserDialog onClose={creating.close} />}
      {search.open !== undefined && (
        <UserDrawer userId={search.open} onClose={() => change({ open: undefined }, true)} />
      )}
    </AdminPage>
  );
}

interface FiltersProps {
  search: AdminSearch;
  change: (part: Partial<AdminSearch>) => void;
}

function Filters({ search, change }: FiltersProps): ReactNode {
  return (
    <div className={list['filters']} role="search">
      <SearchField label={texts.search} value={search.q} onChange={(q) => change({ q, page: undefined })} />
      {search.group === undefined ? (
        <ScopeChoice search={search} change={change} />
      ) : (
        <GroupFilter groupId={search.group} onClear={() => change({ group: undefined, page: undefined })} />
      )}
    </div>
  );
}

function GroupFilter({ groupId, onClear }: { groupId: number; onClear: () => void }): ReactNode {
  const { data: group } = useQuery(groupQuery(groupId));
  return (
    <Button variant="default" rightSection={<Icon name="close" size={13} />} onClick={onClear}>
      {texts.membersOf(group?.group_name ?? `#${groupId}`)}
      <span className="visually-hidden">{commonTexts.clear}</span>
    </Button>
  );
}

function columnsAt(now: number, open: (id: number) => void): Column<UserRead>[] {
  return [
    {
      id: 'name',
      header: texts.columns.name,
      width: 'minmax(160px, 1.2fr)',
      cell: ({ user_id: id, username }) => (
        <button type="button" className={list['name']} onClick={() => open(id)}>
          {username}
        </button>
      ),
    },
    {
      id: 'display',
      header: texts.columns.display,
      width: 'minmax(140px, 1.2fr)',
      cell: ({ display_name: name }) => <span className={list['soft']}>{name ?? commonTexts.none}</span>,
    },
    {
      id: 'email',
      header: texts.columns.email,
      width: 'minmax(180px, 1.6fr)',
      cell: ({ email }) => <span className={list['soft']}>{email}</span>,
    },
    {
      id: 'state',
      header: texts.columns.state,
      width: '120px',
      cell: ({ to_date: end }) => <EnabledBadge isEnabled={dateOf(end) === null} />,
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
