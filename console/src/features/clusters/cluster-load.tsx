import { SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { NodeMetrics } from 'managed-spark/types';
import { type ReactNode, useCallback, useMemo, useState } from 'react';
import type uPlot from 'uplot';
import { clusterTexts } from '../../shared/cluster-texts';
import { EmptyState } from '../../shared/empty-state';
import { type Ink, MAX_LINES, Plot, type PlotOptions } from '../../shared/plot';
import { ProblemPanel } from '../../shared/problem-panel';
import { number } from '../../shared/texts';
import styles from './cluster-load.module.css';
import { loadQuery, type LoadPeriod } from './clusters-api';

const t = clusterTexts.load;

/** The resources of a node, with the number by which the API counts more finely than the charts. */
const RESOURCES = { cores: 1, memory_mb: 1024, disk_mb: 1024, slots: 1 } as const;
type Resource = keyof typeof RESOURCES;

const HEIGHT = 170;

/** The cores, memory, disk and slots that the nodes of a cluster use, over time. */
export function ClusterLoad({ clusterId }: { clusterId: number }): ReactNode {
  const [period, setPeriod] = useState<LoadPeriod>('hour');
  const { data, error, refetch } = useQuery(loadQuery(clusterId, period));
  const nodes = useMemo(() => data?.nodes.filter(({ points }) => points.length > 0) ?? [], [data]);
  const shown = useMemo(() => nodes.slice(0, MAX_LINES), [nodes]);
  return (
    <div className={styles['load']}>
      <div className={styles['choices']}>
        <SegmentedControl
          size="xs"
          aria-label={t.period}
          value={period}
          data={(['hour', 'day'] as const).map((value) => ({ value, label: t[value] }))}
          onChange={(value) => setPeriod(value === 'day' ? 'day' : 'hour')}
        />
        {nodes.length > shown.length && <span className={styles['now']}>{t.more(nodes.length - shown.length)}</span>}
      </div>
      {error && <ProblemPanel error={error} onRetry={() => void refetch()} />}
      {data && nodes.length === 0 && <EmptyState icon="clusters" title={t.none} hint={t.noneHint} />}
      {shown.length > 0 && (
        <div className={styles['charts']}>
          {(Object.keys(RESOURCES) as Resource[]).map((resource) => (
            <section key={resource} className={styles['card']}>
              <h2 className={styles['title']}>{t[resource]}</h2>
              <span className={styles['now']}>{nowText(nodes, resource)}</span>
              <Lines nodes={shown} resource={resource} />
            </section>
          ))}
        </div>
      )}
    </div>
  );
}

/** Says how much of a resource the present nodes used at last. */
function nowText(nodes: readonly NodeMetrics[], resource: Resource): string {
  const last = nodes
    .filter(({ node_status: status }) => status === 'RUNNING')
    .flatMap(({ points }) => points.at(-1)?.[resource] ?? []);
  const sum = (values: number[]) => number(Math.round(values.reduce((all, one) => all + one, 0) * 10) / 10);
  const used = last.map((use) => use.used / RESOURCES[resource]);
  return t.of(sum(used), sum(last.map((use) => (use.used + use.free) / RESOURCES[resource])));
}

function Lines({ nodes, resource }: { nodes: readonly NodeMetrics[]; resource: Resource }): ReactNode {
  const data = useMemo(() => dataOf(nodes, resource), [nodes, resource]);
  const options = useCallback((ink: Ink) => optionsOf(nodes, resource, ink), [nodes, resource]);
  return <Plot label={t.chart(t[resource], nodes.length)} data={data} options={options} height={HEIGHT} />;
}

/** Returns the times at which some node reported, and what each node used then. */
function dataOf(nodes: readonly NodeMetrics[], resource: Resource): uPlot.AlignedData {
  const times = [...new Set(nodes.flatMap(({ points }) => points.map(({ time }) => Date.parse(time))))].sort(
    (a, b) => a - b,
  );
  const lines = nodes.map(({ points }) => {
    const byTime = new Map(points.map((point) => [Date.parse(point.time), point[resource].used / RESOURCES[resource]]));
    return times.map((time) => byTime.get(time) ?? null);
  });
  return [times.map((time) => time / 1000), ...lines];
}

function optionsOf(nodes: readonly NodeMetrics[], resource: Resource, ink: Ink): PlotOptions {
  const all = Math.max(
    ...nodes.flatMap(({ points }) =>
      points.map((point) => (point[resource].used + point[resource].free) / RESOURCES[resource]),
    ),
  );
  return {
    legend: { show: nodes.length > 1 },
    // The whole of what a node has is the top, so that a look says how full it is.
    scales: { y: { range: [0, all] } },
    axes: [ink.axis, { ...ink.axis, size: 46 }],
    series: [
      {},
      ...nodes.map(({ node_number: name }, index) => ({ label: t.node(name), width: 2, ...ink.line(index) })),
    ],
  };
}
