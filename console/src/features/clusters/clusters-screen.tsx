import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ClusterRead } from 'managed-spark/types';
import { type ReactNode, useMemo } from 'react';
import { ActionButton } from '../../shared/action-button';
import { type Column, DataTable } from '../../shared/data-table';
import { EmptyState } from '../../shared/empty-state';
import styles from '../../shared/list-screen.module.css';
import { MultiFilter } from '../../shared/multi-filter';
import { Page } from '../../shared/page';
import { ProblemPanel } from '../../shared/problem-panel';
import { useMay } from '../../shared/rights/use-may';
import { SearchField } from '../../shared/search-field';
import { StateBadge } from '../../shared/state-badge';
import { number, texts } from '../../shared/texts';
import { RelativeTime, useNow } from '../../shared/time';
import { useMore } from '../../shared/use-more';
import { clustersQuery } from './clusters-api';
import { CLUSTER_STATUSES, type ClustersSearch, readClustersSearch } from './clusters-search';

const STATUS_OPTIONS = CLUSTER_STATUSES.map((status) => ({
  value: status,
  label: <StateBadge state={status} of="cluster" />,
}));

export function ClustersScreen(): ReactNode {
  const search = useSearch({ from: '/clusters' });
  const now = useNow(5_000);
  const pages = useInfiniteQuery(clustersQuery(search));
  const { data, error, refetch } = pages;
  const rows = useMemo(() => data?.pages.flatMap((page) => page.data) ?? null, [data]);
  const more = useMore(pages);
  const columns = useMemo(() => columnsAt(now), [now]);
  const total = data?.pages.at(-1)?.result_set.total_objects;
  return (
    <Page title={texts.clusters.title} actions={<NewCluster />} fill>
      <Filters search={search} total={total} />
      {error && <ProblemPanel error={error} onRetry={() => void refetch()} />}
      {rows?.length === 0 && <NoClusters isFiltered={Object.keys(search).length > 0} />}
      {rows && rows.length > 0 && (
        <DataTable
          label={texts.clusters.title}
          columns={columns}
          rows={rows}
          total={total}
          keyOf={({ cluster_id: id }) => id}
          onEnd={more}
        />
      )}
    </Page>
  );
}

function NewCluster(): ReactNode {
  const why = useMay('createCluster');
  return (
    <ActionButton why={why} renderRoot={(props) => <Link to="/clusters/new" {...props} />}>
      {texts.clusters.create}
    </ActionButton>
  );
}

function NoClusters({ isFiltered }: { isFiltered: boolean }): ReactNode {
  const { filteredTitle, filteredHint, emptyTitle, emptyHint } = texts.clusters;
  return isFiltered ? (
    <EmptyState icon="search" title={filteredTitle} hint={filteredHint} />
  ) : (
    <EmptyState icon="clusters" title={emptyTitle} hint={emptyHint} />
  );
}

function Filters({ search, total }: { search: ClustersSearch; total: number | undefined }): ReactNode {
  const navigate = useNavigate({ from: '/clusters' });
  const change = (part: Partial<ClustersSearch>) =>
    void navigate({ search: (before) => readClustersSearch({ ...before, ...part }), replace: true });
  return (
    <div className={styles['filters']} role="search">
      <SearchField label={texts.clusters.search} value={search.q} onChange={(q) => change({ q })} />
      <MultiFilter
        label={texts.clusters.status}
        options={STATUS_OPTIONS}
        selected={search.status ?? []}
        onChange={(chosen) => change({ status: CLUSTER_STATUSES.filter((status) => chosen.includes(status)) })}
      />
      {Object.keys(search).length > 0 && (
        <Button
          variant="subtle"
          color="gray"
          onClick={() => {
            void navigate({ search: {}, replace: true });
          }}
        >
          {texts.clusters.clear}
        </Button>
      )}
      {total !== undefined && <span className={styles['count']}>{texts.clusters.count(total)}</span>}
    </div>
  );
}

function columnsAt(now: number): Column<ClusterRead>[] {
  const t = texts.clusters.columns;
  return [
    {
      id: 'status',
      header: t.status,
      width: '150px',
      cell: ({ cluster_status: status }) => <StateBadge state={status} of="cluster" />,
    },
    {
      id: 'name',
      header: t.name,
      width: 'minmax(200px, 2fr)',
      cell: ({ name, cluster_id: clusterId, description }) => (
        <>
          <Link to="/clusters/$clusterId" params={{ clusterId }} className={styles['name']}>
            {name}
          </Link>
          {description && <span className={styles['aside']}>{description}</span>}
        </>
      ),
    },
    {
      id: 'spark',
      header: t.spark,
      width: '90px',
      cell: ({ spark_infra_version: { spark_version: version } }) => <span className={styles['soft']}>{version}</span>,
    },
    {
      id: 'machine',
      header: t.machine,
      width: 'minmax(130px, 1fr)',
      cell: ({ cluster_conf: { machine_type: type } }) => (
        <span className={styles['soft']}>{`${type.name} · ${type.vCPUs} × ${type.memory}`}</span>
      ),
    },
    {
      id: 'provider',
      header: t.provider,
      width: '100px',
      cell: ({ cloud_env: { cloud_provider: provider } }) => <span className={styles['soft']}>{provider.name}</span>,
    },
    {
      id: 'nodes',
      header: t.nodes,
      width: '100px',
      align: 'end',
      cell: ({ nodes, max_instances: most }) => `${nodes.length}${most === null ? '' : ` / ${number(most)}`}`,
    },
    {
      id: 'changed',
      header: t.changed,
      width: '120px',
      align: 'end',
      cell: ({ last_update_date: at }) => <RelativeTime at={at} now={now} />,
    },
  ];
}
