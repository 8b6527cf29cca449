import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { BrowseTable } from 'managed-spark/types';
import { type ReactNode, useMemo } from 'react';
import type { Place } from '../../shared/catalogs';
import { type Column, DataTable } from '../../shared/data-table';
import { dataTexts as t } from '../../shared/data-texts';
import { EmptyState } from '../../shared/empty-state';
import { Icon } from '../../shared/icons';
import list from '../../shared/list-screen.module.css';
import { ProblemPanel } from '../../shared/problem-panel';
import { SearchField } from '../../shared/search-field';
import { number } from '../../shared/texts';
import { RelativeTime, useNow } from '../../shared/time';
import { useMore } from '../../shared/use-more';
import { tablesQuery } from './data-api';
import { readDataSearch } from './data-search';

interface TableListProps {
  place: Place;
  schema: string;
  q: string | undefined;
  onSearch: (q: string | undefined) => void;
}

/** The tables of a schema, a page at a time as somebody scrolls. */
export function TableList({ place, schema, q, onSearch }: TableListProps): ReactNode {
  const now = useNow(60_000);
  const pages = useInfiniteQuery(tablesQuery(place, schema, q));
  const { data, error, refetch } = pages;
  const rows = useMemo(() => data?.pages.flatMap(({ tables }) => tables), [data]);
  const total = data?.pages.at(-1)?.total;
  const more = useMore(pages);
  const columns = useMemo(() => columnsAt(now), [now]);
  return (
    <>
      <div className={list['filters']} role="search">
        <SearchField label={t.searchTables} value={q} onChange={onSearch} />
        {total !== undefined && <span className={list['count']}>{t.count(number(total))}</span>}
      </div>
      {error && <ProblemPanel error={error} onRetry={() => void refetch()} />}
      {rows?.length === 0 && (
        <EmptyState
          icon={q === undefined ? 'data' : 'search'}
          title={q === undefined ? t.noTable : t.noTableFound}
          hint={q === undefined ? t.noTableHint : t.noTableFoundHint}
        />
      )}
      {rows && rows.length > 0 && (
        <DataTable
          label={t.tables}
          columns={columns}
          rows={rows}
          total={total}
          keyOf={({ name }) => name}
          onEnd={more}
        />
      )}
    </>
  );
}

function columnsAt(now: number): Column<BrowseTable>[] {
  return [
    {
      id: 'name',
      header: t.columns.name,
      width: 'minmax(160px, 2fr)',
      cell: ({ name }) => (
        <Link
          to="/data"
          search={(before) => readDataSearch({ ...before, table: name, tab: undefined })}
          className={list['name']}
        >
          {name}
        </Link>
      ),
    },
    { id: 'type', header: t.columns.type, width: '90px', cell: ({ type }) => <Kind type={type} /> },
    {
      id: 'owner',
      header: t.columns.owner,
      width: 'minmax(100px, 1fr)',
      cell: ({ owner }) => <span className={list['soft']}>{owner ?? '–'}</span>,
    },
    {
      id: 'created',
      header: t.columns.created,
      width: '112px',
      align: 'end',
      cell: ({ created_at: at }) => <Time at={at} now={now} />,
    },
    {
      id: 'changed',
      header: t.columns.changed,
      width: '112px',
      align: 'end',
      cell: ({ updated_at: at }) => <Time at={at} now={now} />,
    },
  ];
}

/** A table or a view, told apart by a picture, too. */
export function Kind({ type }: { type: string }): ReactNode {
  return (
    <span className={list['soft']}>
      <Icon name={type === 'view' ? 'eye' : 'table'} size={14} style={{ verticalAlign: '-2px' }} />{' '}
      {type === 'view' ? t.kinds.view : t.kinds.table}
    </span>
  );
}

function Time({ at, now }: { at: number | null; now: number }): ReactNode {
  return at === null ? '–' : <RelativeTime at={new Date(at).toISOString()} now={now} />;
}
