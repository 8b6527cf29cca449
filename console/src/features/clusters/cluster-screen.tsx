import { Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ClusterRead, ClusterStateEvent } from 'managed-spark/types';
import { lazy, type ReactNode, Suspense } from 'react';
import { type Fact, Facts } from '../../shared/facts';
import { Icon } from '../../shared/icons';
import { Page } from '../../shared/page';
import { ProblemPanel } from '../../shared/problem-panel';
import { StateBadge } from '../../shared/state-badge';
import { StateHistory } from '../../shared/state-history';
import tabs from '../../shared/tabs.module.css';
import { texts } from '../../shared/texts';
import { RelativeTime, useNow } from '../../shared/time';
import { ClusterActions } from './cluster-actions';
import { ClusterNodes } from './cluster-nodes';
import styles from './cluster-screen.module.css';
import { clusterHistoryQuery, clusterQuery } from './clusters-api';
import { CLUSTER_TABS } from './clusters-search';

const MS_PER_MINUTE = 60_000;

/** Charts and logs are loaded when somebody looks at them. */
const ClusterLoad = lazy(async () => ({ default: (await import('./cluster-load')).ClusterLoad }));
const ClusterLog = lazy(async () => ({ default: (await import('./cluster-log')).ClusterLog }));

export function ClusterScreen(): ReactNode {
  const { clusterId } = useParams({ from: '/clusters/$clusterId' });
  const { data: cluster, error, refetch } = useQuery(clusterQuery(clusterId));
  if (cluster) return <Cluster key={clusterId} cluster={cluster} />;
  if (!error) return null;
  return (
    <Page title={`#${clusterId}`} trail={<Trail />}>
      <ProblemPanel error={error} onRetry={() => void refetch()} />
    </Page>
  );
}

function Trail(): ReactNode {
  return <Link to="/clusters">{texts.clusters.title}</Link>;
}

function Cluster({ cluster }: { cluster: ClusterRead }): ReactNode {
  const now = useNow(1_000);
  const { tab = 'nodes' } = useSearch({ from: '/clusters/$clusterId' });
  const navigate = useNavigate({ from: '/clusters/$clusterId' });
  const { cluster_id: clusterId, cluster_status: status } = cluster;
  const { data: history } = useQuery(clusterHistoryQuery(clusterId, status));
  const [state] = history?.data ?? [];
  return (
    <Page
      title={cluster.name}
      trail={<Trail />}
      badge={<StateBadge state={status} of="cluster" />}
      subtitle={cluster.description}
      actions={<ClusterActions cluster={cluster} />}
      fill
    >
      {state && <StateLine state={state} now={now} />}
      <Tabs
        value={tab}
        onChange={(value) =>
          void navigate({ search: { tab: CLUSTER_TABS.find((one) => one === value) ?? 'nodes' }, replace: true })
        }
        // A log fills the rest of the screen, and scrolls within it.
        className={tab === 'log' ? tabs['tabs'] : undefined}
        classNames={{ panel: tab === 'log' ? tabs['panel'] : styles['panel'] }}
        keepMounted={false}
      >
        <Tabs.List>
          {CLUSTER_TABS.map((one) => (
            <Tabs.Tab key={one} value={one}>
              {texts.cluster.tabs[one]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="nodes">
          <ClusterNodes cluster={cluster} now={now} />
        </Tabs.Panel>
        <Tabs.Panel value="log">
          <Suspense fallback={null}>
            <ClusterLog clusterId={clusterId} status={status} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="load">
          <Suspense fallback={null}>
            <ClusterLoad clusterId={clusterId} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <History states={history?.data ?? []} now={now} />
        </Tabs.Panel>
        <Tabs.Panel value="configuration">
          <Facts facts={factsOf(cluster)} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

/** The present state with its reason, who caused it and since when; of a failure, it is the first thing to read. */
function StateLine({ state, now }: { state: ClusterStateEvent; now: number }): ReactNode {
  const { cluster_status: status, reason, created_by: by, step, start_time: since } = state;
  const isFailure = status === 'ERROR';
  return (
    <section className={styles['state']} data-failed={isFailure || undefined} aria-label={texts.cluster.now}>
      <Icon name={isFailure ? 'failed' : 'info'} size={18} />
      <div className={styles['stateText']}>
        <p>{reason ?? texts.cluster.noReason}</p>
        <p className={styles['by']}>
          {by ?? texts.run.history.platform}
          {step !== null && <> · {texts.cluster.atStep(step)}</>} · <RelativeTime at={since} now={now} />
        </p>
      </div>
    </section>
  );
}

function History({ states, now }: { states: readonly ClusterStateEvent[]; now: number }): ReactNode {
  const entries = states.map((one) => ({
    key: one.cluster_status_id,
    state: one.cluster_status,
    of: 'cluster' as const,
    from: one.start_time,
    to: one.end_time,
    nodes: one.current_node_size,
    by: one.created_by,
    step: one.step,
    reason: one.reason,
  }));
  return <StateHistory hasNodes entries={entries} now={now} />;
}

function factsOf(cluster: ClusterRead): Fact[] {
  const t = texts.cluster.facts;
  const { machine_type: machine } = cluster.cluster_conf;
  const { spark_infra_version: spark, cloud_env: environment, idle_timeout_ms: idle } = cluster;
  return [
    { label: t.id, value: String(cluster.cluster_id), isCode: true },
    { label: t.spark, value: `${spark.spark_version} · Scala ${spark.scala_version} · Python ${spark.python_version}` },
    { label: t.type, value: cluster.cluster_type },
    { label: t.environment, value: `${environment.cloud_env_name} · ${environment.cloud_provider.name}` },
    { label: t.machine, value: `${machine.name} · ${machine.vCPUs} vCPU · ${machine.memory}` },
    { label: t.nodes, value: `${cluster.min_instances ?? 1} – ${cluster.max_instances ?? texts.cluster.unlimited}` },
    { label: t.spot, value: cluster.is_spot_instance ? texts.cluster.yes : texts.cluster.no },
    { label: t.idle, value: idle > 0 ? texts.cluster.afterMinutes(idle / MS_PER_MINUTE) : texts.cluster.never },
    {
      label: t.slots,
      value: cluster.engine_cluster_spark_config.max_parallel_spark_job_execution_per_instance,
    },
    { label: t.labels, value: Object.entries(cluster.labels).map(([key, value]) => `${key} = ${value}`), isCode: true },
    { label: t.catalog, value: cluster.metastore_catalog?.metastore_catalog_name ?? null },
    { label: t.mounts, value: cluster.mounts.map(({ name }) => name) },
    { label: t.createdBy, value: cluster.created_by?.username ?? texts.run.history.platform },
  ];
}
