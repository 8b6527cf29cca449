import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { AuditEventRead } from 'managed-spark/types';
import { type ReactNode, useMemo } from 'react';
import { adminTexts } from '../../shared/admin-texts';
import { ChoiceFilter } from '../../shared/choice-filter';
import { commonTexts } from '../../shared/common-texts';
import { type Column, DataTable } from '../../shared/data-table';
import { EmptyState } from '../../shared/empty-state';
import { Icon, type IconName } from '../../shared/icons';
import { Pager } from '../../shared/pager';
import { ProblemPanel } from '../../shared/problem-panel';
import { SearchField } from '../../shared/search-field';
import { RelativeTime, useNow } from '../../shared/time';
import list from '../../shared/list-screen.module.css';
import styles from './admin.module.css';
import { AdminPage } from './admin-page';
import { auditQuery } from './audit-api';
import { subjectText } from './audit-subject';
import { AuditDrawer } from './audit-drawer';
import { type AuditSearch, OUTCOMES, PERIODS, readAuditSearch } from './audit-search';

const texts = adminTexts.audit;

const ICONS: Readonly<Record<AuditEventRead['outcome'], IconName>> = {
  done: 'done',
  refused: 'killed',
  failed: 'failed',
};

/** Lists who changed what, and who was refused what. */
export function AuditScreen(): ReactNode {
  const search = useSearch({ from: '/admin/audit' });
  const navigate = useNavigate({ from: '/admin/audit' });
  const now = useNow(10_000);
  const { data: page, error, refetch } = useQuery(auditQuery(search));
  const change = (part: Partial<AuditSearch>, isNewView = false) =>
    void navigate({ search: (before) => readAuditSearch({ ...before, ...part }), replace: !isNewView });
  const columns = useMemo(
    () => columnsAt(now, (open) => void navigate({ search: (before) => ({ ...before, open }) })),
    [now, navigate],
  );
  const { open, page: _page, ...filters } = search;
  const isFiltered = Object.keys(filters).length > 0;
  const shown = page?.data.find(({ audit_event_id: id }) => id === open);
  return (
    <AdminPage section="audit">
      <Filters search={search} isFiltered={isFiltered} change={change} />
      {error && <ProblemPanel error={error} onRetry={() => void refetch()} />}
      {page && page.data.length > 0 && (
        <DataTable
          label={adminTexts.sections.audit}
          columns={columns}
          rows={page.data}
          total={page.result_set.total_objects}
          keyOf={({ audit_event_id: id }) => id}
        />
      )}
      {page?.data.length === 0 && (
        <EmptyState
          icon="inbox"
          title={isFiltered ? adminTexts.filteredTitle : texts.emptyTitle}
          hint={isFiltered ? adminTexts.filteredHint : texts.emptyHint}
        />
      )}
      <Pager of={page?.result_set} onPage={(next) => change({ page: next })} />
      {shown && <AuditDrawer event={shown} onClose={() => change({ open: undefined }, true)} />}
    </AdminPage>
  );
}

interface FiltersProps {
  search: AuditSearch;
  isFiltered: boolean;
  change: (part: Partial<AuditSearch>) => void;
}

function Filters({ search, isFiltered, change }: FiltersProps): ReactNode {
  return (
    <div className={list['filters']} role="search">
      <SearchField
        label={texts.user}
        width={160}
        value={search.user}
        onChange={(user) => change({ user, page: undefined })}
      />
      <SearchField
        label={texts.operation}
        width={180}
        value={search.operation}
        onChange={(operation) => change({ operation, page: undefined })}
      />
      <SearchField
        label={texts.correlation}
        width={230}
        value={search.correlation}
        onChange={(correlation) => change({ correlation, page: undefined })}
      />
      <ChoiceFilter
        label={texts.outcome}
        options={[
          { value: null, label: texts.anyOutcome },
          ...OUTCOMES.map((value) => ({ value, label: texts.outcomes[value] })),
        ]}
        selected={search.outcome ?? null}
        onChange={(outcome) => change({ outcome: outcome ?? undefined, page: undefined })}
      />
      <ChoiceFilter
        label={texts.period}
        options={[
          { value: null, label: texts.anyTime },
          ...PERIODS.map((value) => ({ value, label: texts.periods[value] })),
        ]}
        selected={search.period ?? null}
        onChange={(period) => change({ period: period ?? undefined, page: undefined })}
      />
      {isFiltered && (
        <Button
          variant="subtle"
          color="gray"
          onClick={() =>
            change({
              user: undefined,
              operation: undefined,
              correlation: undefined,
              outcome: undefined,
              period: undefined,
              page: undefined,
            })
          }
        >
          {commonTexts.clear}
        </Button>
      )}
    </div>
  );
}

function columnsAt(now: number, open: (id: number) => void): Column<AuditEventRead>[] {
  return [
    {
      id: 'outcome',
      header: texts.columns.outcome,
      width: '116px',
      cell: ({ outcome }) => (
        <span className={styles['outcome']} data-outcome={outcome}>
          <Icon name={ICONS[outcome]} />
          {texts.outcomes[outcome]}
        </span>
      ),
    },
    {
      id: 'operation',
      header: texts.columns.operation,
      width: 'minmax(200px, 1.3fr)',
      cell: ({ audit_event_id: id, operation }) => (
        <button type="button" className={list['name']} onClick={() => open(id)}>
          {operation}
        </button>
      ),
    },
    {
      id: 'subject',
      header: texts.columns.subject,
      width: 'minmax(200px, 2fr)',
      cell: ({ subject }) => <span className={list['soft']}>{subjectText(subject)}</span>,
    },
    {
      id: 'by',
      header: texts.columns.by,
      width: 'minmax(110px, 0.8fr)',
      cell: ({ username }) => username ?? <span className={list['soft']}>{texts.unknown}</span>,
    },
    {
      id: 'at',
      header: texts.columns.at,
      width: '120px',
      align: 'end',
      cell: ({ at }) => <RelativeTime at={at} now={now} />,
    },
  ];
}
