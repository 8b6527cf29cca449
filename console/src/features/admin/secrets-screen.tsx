import { SegmentedControl } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import { ActionButton } from '../../shared/action-button';
import { adminTexts } from '../../shared/admin-texts';
import { ChoiceFilter } from '../../shared/choice-filter';
import { commonTexts } from '../../shared/common-texts';
import { Confirm } from '../../shared/confirm';
import { type Column, DataTable } from '../../shared/data-table';
import { EmptyState } from '../../shared/empty-state';
import { Icon } from '../../shared/icons';
import { Pager } from '../../shared/pager';
import { ProblemPanel } from '../../shared/problem-panel';
import { workspacesQuery } from '../../shared/records';
import type { Reason } from '../../shared/rights/rights';
import { useMay } from '../../shared/rights/use-may';
import { SearchField } from '../../shared/search-field';
import { RelativeTime, useNow } from '../../shared/time';
import list from '../../shared/list-screen.module.css';
import styles from './admin.module.css';
import { AdminPage } from './admin-page';
import { type AdminSearch, readAdminSearch, SECRET_SCOPES } from './admin-search';
import { SecretDialog } from './secret-dialog';
import { dropSecret, type Secret, type SecretPlace, secretsQuery } from './secrets-api';

const texts = adminTexts.secrets;

/** The operations by which the secrets of each place are changed. */
const OPERATIONS = {
  user: ['createUserSecret', 'updateUserSecret', 'deleteUserSecret'],
  workspace: ['createWorkspaceSecret', 'updateWorkspaceSecret', 'deleteWorkspaceSecret'],
  tenant: ['createTenantSecret', 'updateTenantSecret', 'deleteTenantSecret'],
} as const;

/** Names of secrets; their values are written here and never read. */
export function SecretsScreen(): ReactNode {
  const search = useSearch({ from: '/admin/secrets' });
  const navigate = useNavigate({ from: '/admin/secrets' });
  const [isCreating, creating] = useDisclosure(false);
  const [rotated, setRotated] = useState<Secret | null>(null);
  const place = useMemo(
    (): SecretPlace => ({ scope: search.scope ?? 'user', workspaceId: search.workspace }),
    [search.scope, search.workspace],
  );
  const isPlace = place.scope !== 'workspace' || place.workspaceId !== undefined;
  const why = useMay(OPERATIONS[place.scope], place.workspaceId);
  const change = (part: Partial<AdminSearch>) =>
    void navigate({ search: (before) => readAdminSearch({ ...before, ...part }), replace: true });
  return (
    <AdminPage
      section="secrets"
      actions={
        <ActionButton
          why={isPlace ? why : texts.noWorkspace}
          leftSection={<Icon name="plus" size={14} />}
          onClick={creating.open}
        >
          {texts.create}
        </ActionButton>
      }
    >
      <Filters search={search} change={change} />
      {isPlace ? (
        <SecretList place={place} search={search} why={why} change={change} onRotate={setRotated} />
      ) : (
        <EmptyState icon="key" title={texts.noWorkspace} hint={texts.noWorkspaceHint} />
      )}
      {isCreating && <SecretDialog place={place} onClose={creating.close} />}
      {rotated && <SecretDialog place={place} secret={rotated} onClose={() => setRotated(null)} />}
    </AdminPage>
  );
}

interface ListProps {
  place: SecretPlace;
  search: AdminSearch;
  /** Says why the user may not change secrets here; null if they may. */
  why: Reason;
  change: (part: Partial<AdminSearch>) => void;
  onRotate: (secret: Secret) => void;
}

function SecretList({ place, search, why, change, onRotate }: ListProps): ReactNode {
  const queries = useQueryClient();
  const now = useNow(30_000);
  const { data: page, error, refetch } = useQuery(secretsQuery(place, search));
  const columns = useMemo(
    () =>
      columnsAt({
        now,
        why,
        rotate: onRotate,
        drop: async ({ id }) => {
          await dropSecret(place, id);
          await queries.invalidateQueries({ queryKey: ['secrets'] });
        },
      }),
    [now, why, onRotate, place, queries],
  );
  return (
    <>
      {error && <ProblemPanel error={error} onRetry={() => void refetch()} />}
      {page && page.secrets.length > 0 && (
        <DataTable
          label={adminTexts.sections.secrets}
          columns={columns}
          rows={page.secrets}
          total={page.result_set.total_objects}
          keyOf={({ id }) => id}
        />
      )}
      {page?.secrets.length === 0 && (
        <EmptyState
          icon="key"
          title={search.q === undefined ? texts.emptyTitle : adminTexts.filteredTitle}
          hint={search.q === undefined ? texts.emptyHint : adminTexts.filteredHint}
        />
      )}
      <Pager of={page?.result_set} onPage={(next) => change({ page: next })} />
    </>
  );
}

function Filters({ search, change }: Pick<ListProps, 'search' | 'change'>): ReactNode {
  const { data: workspaces } = useQuery(workspacesQuery('all'));
  return (
    <div className={list['filters']} role="search">
      <SegmentedControl
        size="xs"
        aria-label={texts.scopeLabel}
        data={SECRET_SCOPES.map((value) => ({ value, label: texts.scopes[value] }))}
        value={search.scope ?? 'user'}
        onChange={(value) => change({ scope: SECRET_SCOPES.find((one) => one === value), page: undefined })}
      />
      {search.scope === 'workspace' && (
        <ChoiceFilter
          label={texts.workspace}
          options={(workspaces ?? []).map(({ workspace_id: value, name: label }) => ({ value, label }))}
          selected={search.workspace ?? null}
          onChange={(workspace) => change({ workspace: workspace ?? undefined, page: undefined })}
        />
      )}
      <SearchField label={texts.search} value={search.q} onChange={(q) => change({ q, page: undefined })} />
    </div>
  );
}

interface ColumnContext {
  now: number;
  why: Reason;
  rotate: (secret: Secret) => void;
  drop: (secret: Secret) => Promise<void>;
}

function columnsAt({ now, why, rotate, drop }: ColumnContext): Column<Secret>[] {
  return [
    {
      id: 'name',
      header: texts.columns.name,
      width: 'minmax(180px, 1.4fr)',
      cell: ({ name }) => <span className={styles['plain']}>{name}</span>,
    },
    {
      id: 'type',
      header: texts.columns.type,
      width: '230px',
      cell: ({ type }) => <span className={list['soft']}>{type}</span>,
    },
    {
      id: 'description',
      header: texts.columns.description,
      width: 'minmax(140px, 1.4fr)',
      cell: ({ description }) => <span className={list['soft']}>{description ?? commonTexts.none}</span>,
    },
    {
      id: 'by',
      header: texts.columns.by,
      width: '120px',
      cell: ({ by }) => <span className={list['soft']}>{by?.username ?? commonTexts.none}</span>,
    },
    {
      id: 'changed',
      header: texts.columns.changed,
      width: '110px',
      align: 'end',
      cell: ({ changedAt: at }) => <RelativeTime at={at} now={now} />,
    },
    {
      id: 'actions',
      header: commonTexts.actions,
      width: '190px',
      align: 'end',
      cell: (secret) => (
        <>
          <ActionButton
            why={why}
            variant="default"
            aria-label={`${texts.rotate} ${secret.name}`}
            onClick={() => rotate(secret)}
          >
            {texts.rotate}
          </ActionButton>{' '}
          <Confirm
            action={texts.delete}
            why={why}
            label={`${texts.delete} ${secret.name}`}
            question={texts.deleteTitle(secret.name)}
            consequence={texts.deleteHint}
            run={() => drop(secret)}
          />
        </>
      ),
    },
  ];
}
