import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { Role, UserInfo, UserRoles, WorkspaceRead } from 'managed-spark/types';
import { type ReactNode, useMemo } from 'react';
import { accessTexts } from '../../shared/access-texts';
import { accountTexts as texts } from '../../shared/account-texts';
import { type Column, DataTable } from '../../shared/data-table';
import { EmptyState } from '../../shared/empty-state';
import { Facts } from '../../shared/facts';
import { Page } from '../../shared/page';
import { ProblemPanel } from '../../shared/problem-panel';
import { sessionQuery, workspacesQuery } from '../../shared/records';
import { adminRole } from '../../shared/rights/rights';
import { allRoles, heldQuery, managersQuery, ownPermissionQuery, ownRolesQuery } from '../../shared/rights/rights-api';
import { SearchField } from '../../shared/search-field';
import list from '../../shared/list-screen.module.css';
import { someNames } from '../../shared/some-names';
import { originsOf, roleLines } from './account-rights';
import { readAccountSearch } from './account-search';

/** Shows what the user may do: roles, groups and permissions, where each comes from, and whom to ask for more. */
export function AccountScreen(): ReactNode {
  const { data: user } = useQuery(sessionQuery);
  const { data: roles, error, refetch } = useQuery(ownRolesQuery);
  return (
    <Page title={texts.title} subtitle={user && texts.subtitle(user.username)} fill>
      {error && <ProblemPanel error={error} onRetry={() => void refetch()} />}
      {user && roles && <Rights user={user} roles={roles} />}
    </Page>
  );
}

function Rights({ user, roles }: { user: UserInfo; roles: UserRoles }): ReactNode {
  const lines = roleLines(roles);
  const groups = user.group_info.map(({ groupname }) => groupname);
  return (
    <>
      <Facts
        facts={[
          { label: texts.roles, value: lines.length > 0 ? lines : texts.noRole },
          { label: texts.groups, value: groups.length > 0 ? groups : texts.noGroup },
          { label: texts.otherRole, value: texts.askAdmins },
        ]}
      />
      <Workspaces admin={adminRole(allRoles(roles))} />
    </>
  );
}

/** @param admin the role that opens every workspace, if the user holds one */
function Workspaces({ admin }: { admin: Role | null }): ReactNode {
  const { q } = useSearch({ from: '/account' });
  const navigate = useNavigate({ from: '/account' });
  const { data: all, error, refetch } = useQuery(workspacesQuery('all'));
  const columns = useMemo(() => columnsFor(admin), [admin]);
  const rows = useMemo(() => all?.filter(({ name }) => name.includes((q ?? '').toLowerCase())), [all, q]);
  return (
    <>
      <div className={list['filters']} role="search">
        <SearchField
          label={texts.search}
          value={q}
          delayMs={0}
          onChange={(typed) => void navigate({ search: () => readAccountSearch({ q: typed }), replace: true })}
        />
      </div>
      {error && <ProblemPanel error={error} onRetry={() => void refetch()} />}
      {rows?.length === 0 && (
        <EmptyState
          icon="key"
          title={q === undefined ? texts.none : texts.noneFound}
          hint={q === undefined ? texts.noneHint : texts.noneFoundHint}
        />
      )}
      {rows && rows.length > 0 && (
        <DataTable label={texts.workspaces} columns={columns} rows={rows} keyOf={({ workspace_id: id }) => id} />
      )}
    </>
  );
}

function columnsFor(admin: Role | null): Column<WorkspaceRead>[] {
  return [
    {
      id: 'name',
      header: texts.columns.name,
      width: 'minmax(160px, 1.2fr)',
      cell: ({ workspace_id: workspaceId, name }) => (
        <Link to="/workspaces/$workspaceId" params={{ workspaceId }} className={list['name']}>
          {name}
        </Link>
      ),
    },
    {
      id: 'permission',
      header: texts.columns.permission,
      width: 'minmax(220px, 2fr)',
      cell: ({ workspace_id: id }) => <Held workspaceId={id} />,
    },
    {
      id: 'why',
      header: texts.columns.why,
      width: 'minmax(220px, 2fr)',
      cell: (workspace) =>
        admin === null ? (
          <Origin workspace={workspace} />
        ) : (
          <span className={list['soft']}>{texts.origin.admin(admin)}</span>
        ),
    },
    {
      id: 'ask',
      header: texts.columns.ask,
      width: 'minmax(160px, 1.4fr)',
      cell: ({ workspace_id: id }) => <Helpers workspaceId={id} />,
    },
  ];
}

function Held({ workspaceId }: { workspaceId: number }): ReactNode {
  const { data: held } = useQuery(heldQuery(workspaceId));
  if (!held) return null;
  const meaning = accessTexts.meaning[held];
  return (
    <span title={meaning}>
      {held} <span className={list['soft']}>{meaning}</span>
    </span>
  );
}

function Origin({ workspace }: { workspace: WorkspaceRead }): ReactNode {
  const { data: own } = useQuery(ownPermissionQuery(workspace.workspace_id));
  if (own === undefined) return null;
  const text = own === null ? texts.origin.unknown : originsOf(own, workspace).join('; ');
  return (
    <span className={list['soft']} title={text}>
      {text}
    </span>
  );
}

/** Names the users who can grant more than the user holds. */
function Helpers({ workspaceId }: { workspaceId: number }): ReactNode {
  const { data: held } = useQuery(heldQuery(workspaceId));
  const isLess = held !== undefined && held !== 'MANAGE';
  const { data: managers } = useQuery({ ...managersQuery(workspaceId), enabled: isLess });
  if (held === 'MANAGE') return <span className={list['faint']}>{texts.everything}</span>;
  if (!managers) return null;
  if (managers.length === 0) return <span className={list['soft']}>{texts.nobody}</span>;
  return <span className={list['soft']}>{someNames(managers)}</span>;
}
