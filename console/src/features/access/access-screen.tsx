import { Button, SegmentedControl } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { WorkspacePermissionName } from 'managed-spark/types';
import { type ReactNode, useMemo } from 'react';
import { accessTexts as texts } from '../../shared/access-texts';
import { ActionButton } from '../../shared/action-button';
import { ChoiceFilter } from '../../shared/choice-filter';
import { commonTexts } from '../../shared/common-texts';
import { type Column, DataTable } from '../../shared/data-table';
import { EmptyState } from '../../shared/empty-state';
import { Icon } from '../../shared/icons';
import { Page } from '../../shared/page';
import { Pager } from '../../shared/pager';
import { ProblemPanel } from '../../shared/problem-panel';
import { workspacesQuery } from '../../shared/records';
import { PERMISSIONS } from '../../shared/rights/rights';
import { useMay } from '../../shared/rights/use-may';
import { SearchField } from '../../shared/search-field';
import { type Holder, holdersQuery, permissionsQuery } from './access-api';
import { type AccessSearch, HOLDERS, type Holders, readAccessSearch } from './access-search';
import list from '../../shared/list-screen.module.css';
import styles from './access-screen.module.css';
import { GrantDialog } from './grant-dialog';
import { HolderDrawer } from './holder-drawer';

/** Shows who may do what in a workspace: its users and groups, and the permissions on it. */
export function AccessScreen(): ReactNode {
  const search = useSearch({ from: '/access' });
  const { data: workspaces, error, refetch } = useQuery(workspacesQuery('all'));
  const shown =
    workspaces?.find(({ workspace_id: id }) => id === search.workspace) ??
    (search.workspace === undefined ? workspaces?.[0] : undefined);
  const workspaceId = search.workspace ?? shown?.workspace_id;
  if (error) {
    return (
      <Page title={texts.title}>
        <ProblemPanel error={error} onRetry={() => void refetch()} />
      </Page>
    );
  }
  if (workspaces?.length === 0 && workspaceId === undefined) {
    return (
      <Page title={texts.title}>
        <EmptyState
          icon="key"
          title={texts.noWorkspace}
          hint={texts.noWorkspaceHint}
          example={texts.noWorkspaceExample}
        />
      </Page>
    );
  }
  if (workspaceId === undefined) return null;
  return <Matrix workspaceId={workspaceId} name={shown?.name ?? `#${workspaceId}`} search={search} />;
}

interface MatrixProps {
  workspaceId: number;
  name: string;
  search: AccessSearch;
}

function Matrix({ workspaceId, name, search }: MatrixProps): ReactNode {
  const navigate = useNavigate({ from: '/access' });
  const [isGranting, granting] = useDisclosure(false);
  const { data: page, error, refetch } = useQuery(holdersQuery(workspaceId, search));
  const of: Holders = search.of ?? 'users';
  const why = useMay(['assignWorkspaceUserPermission', 'assignWorkspaceGroupPermission'], workspaceId);
  const change = (part: Partial<AccessSearch>, isNewView = false) =>
    void navigate({ search: (before) => readAccessSearch({ ...before, ...part }), replace: !isNewView });
  const columns = useMemo(
    () => columnsOf(of, (holder) => void navigate({ search: (before) => ({ ...before, holder }) })),
    [of, navigate],
  );
  const isFiltered = search.q !== undefined || search.permission !== undefined;
  return (
    <Page
      title={texts.title}
      subtitle={texts.subtitle}
      actions={
        <ActionButton why={why} leftSection={<Icon name="plus" size={14} />} onClick={granting.open}>
          {texts.grant}
        </ActionButton>
      }
      fill
    >
      <Filters workspaceId={workspaceId} search={search} change={change} />
      {error && <ProblemPanel error={error} onRetry={() => void refetch()} />}
      {page && page.holders.length > 0 && (
        <DataTable
          label={texts.title}
          columns={columns}
          rows={page.holders}
          total={page.result_set.total_objects}
          keyOf={({ id }) => id}
        />
      )}
      {page?.holders.length === 0 && (
        <EmptyState
          icon="people"
          title={isFiltered ? texts.filtered : texts.empty[of]}
          hint={isFiltered ? texts.filteredHint : texts.emptyHint}
        >
          {!isFiltered && (
            <ActionButton why={why} onClick={granting.open}>
              {texts.grant}
            </ActionButton>
          )}
        </EmptyState>
      )}
      <footer className={styles['footer']}>
        <p className={styles['note']}>{texts.adminNote}</p>
        <Pager of={page?.result_set} onPage={(next) => change({ page: next })} />
      </footer>
      {isGranting && (
        <GrantDialog
          workspaceId={workspaceId}
          workspace={name}
          of={of}
          onClose={(holder) => {
            granting.close();
            if (holder !== undefined) change({ holder }, true);
          }}
        />
      )}
      {search.holder !== undefined && (
        <HolderDrawer
          holderKey={{ workspaceId, of, id: search.holder }}
          onClose={() => change({ holder: undefined }, true)}
        />
      )}
    </Page>
  );
}

interface FiltersProps {
  workspaceId: number;
  search: AccessSearch;
  change: (part: Partial<AccessSearch>, isNewView?: boolean) => void;
}

function Filters({ workspaceId, search, change }: FiltersProps): ReactNode {
  const { data: workspaces } = useQuery(workspacesQuery('all'));
  const { data: permissions } = useQuery(permissionsQuery);
  const of = search.of ?? 'users';
  return (
    <div className={list['filters']} role="search">
      <ChoiceFilter
        label={texts.workspace}
        icon="building"
        options={(workspaces ?? []).map(({ workspace_id: value, name: label }) => ({ value, label }))}
        selected={workspaceId}
        onChange={(workspace) =>
          change({ workspace: workspace ?? undefined, page: undefined, holder: undefined }, true)
        }
      />
      <SegmentedControl
        size="xs"
        aria-label={texts.of.label}
        data={HOLDERS.map((value) => ({ value, label: texts.of[value] }))}
        value={of}
        onChange={(value) =>
          change({ of: value === 'groups' ? 'groups' : undefined, q: undefined, page: undefined, holder: undefined })
        }
      />
      <SearchField
        key={of}
        label={texts.search[of]}
        value={search.q}
        onChange={(q) => change({ q, page: undefined })}
      />
      <ChoiceFilter
        label={texts.permission}
        options={[
          { value: null, label: texts.any },
          ...(permissions ?? []).map(({ permission_id: value, name: label }) => ({ value, label })),
        ]}
        selected={search.permission ?? null}
        onChange={(permission) => change({ permission: permission ?? undefined, page: undefined })}
      />
      {(search.q !== undefined || search.permission !== undefined) && (
        <Button
          variant="subtle"
          color="gray"
          onClick={() => change({ q: undefined, permission: undefined, page: undefined })}
        >
          {commonTexts.clear}
        </Button>
      )}
    </div>
  );
}

function columnsOf(of: Holders, open: (id: number) => void): Column<Holder>[] {
  return [
    {
      id: 'name',
      header: texts.columns[of],
      width: 'minmax(180px, 1.4fr)',
      cell: ({ id, name }) => (
        <button type="button" className={list['name']} onClick={() => open(id)}>
          {name}
        </button>
      ),
    },
    {
      id: 'mail',
      header: texts.columns.email,
      width: 'minmax(160px, 1.4fr)',
      cell: ({ mail }) => <span className={list['soft']}>{mail ?? commonTexts.none}</span>,
    },
    ...PERMISSIONS.map((permission) => ({
      id: permission,
      header: permission,
      width: '92px',
      cell: ({ strongest }: Holder) => <Included permission={permission} strongest={strongest} />,
    })),
  ];
}

interface IncludedProps {
  permission: WorkspacePermissionName;
  strongest: WorkspacePermissionName;
}

/** Says whether the strongest permission of a holder includes another one. */
function Included({ permission, strongest }: IncludedProps): ReactNode {
  const isIncluded = PERMISSIONS.indexOf(strongest) >= PERMISSIONS.indexOf(permission);
  if (!isIncluded) {
    return (
      <span className={styles['lacks']}>
        <span aria-hidden="true">·</span>
        <span className="visually-hidden">{texts.lacks(permission)}</span>
      </span>
    );
  }
  return (
    <span className={styles['dot']} data-strongest={permission === strongest || undefined}>
      <Icon name="check" size={14} />
      <span className="visually-hidden">{texts.includes(permission)}</span>
    </span>
  );
}
