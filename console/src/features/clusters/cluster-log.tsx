import { SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { ChoiceFilter } from '../../shared/choice-filter';
import { clusterTexts } from '../../shared/cluster-texts';
import { EmptyState } from '../../shared/empty-state';
import { isFault } from '../../shared/log/log-search';
import { LogViewer } from '../../shared/log/log-viewer';
import type { LogLine } from '../../shared/log/log-window';
import { stateLook } from '../../shared/state-badge';
import { dateOf, exactTime } from '../../shared/time';
import { nodeHistoryQuery, nodeLogSource, nodeLogUrl } from './clusters-api';
import { type ClusterSearch, NODE_STREAMS, type NodeStream } from './clusters-search';
import { type NodeLife, nodeLives } from './node-lives';

const t = clusterTexts.log;

/** The output of a node that the cluster has or had: of its agent, of its bootstrap script and of the daemons of Spark. */
export function ClusterLog({ clusterId, status }: { clusterId: number; status: string }): ReactNode {
  const { node, stream = 'stderr' } = useSearch({ from: '/clusters/$clusterId' });
  const navigate = useNavigate({ from: '/clusters/$clusterId' });
  const { data: history } = useQuery(nodeHistoryQuery(clusterId, status));
  const lives = useMemo(() => nodeLives(history?.data ?? []), [history]);
  const life = lives.find(({ states }) => node !== undefined && states.includes(node)) ?? lives[0];
  if (!history) return null;
  if (!life) return <EmptyState icon="clusters" title={t.none} hint={t.noneHint} />;
  const change = (part: ClusterSearch) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  return (
    <NodeLog clusterId={clusterId} life={life} stream={stream}>
      <ChoiceFilter
        label={t.node}
        options={lives.map((one) => ({ value: idOf(one), label: labelOf(one) }))}
        selected={idOf(life)}
        onChange={(chosen) => change({ node: chosen ?? undefined })}
      />
      <SegmentedControl
        size="xs"
        aria-label={t.stream}
        value={stream}
        data={NODE_STREAMS.map((value) => ({ value, label: t.streams[value] }))}
        onChange={(value) => change({ stream: value })}
      />
    </NodeLog>
  );
}

interface NodeLogProps {
  clusterId: number;
  life: NodeLife;
  stream: NodeStream;
  children: ReactNode;
}

function NodeLog({ clusterId, life, stream, children }: NodeLogProps): ReactNode {
  const id = idOf(life);
  const source = useMemo(() => nodeLogSource(clusterId, id, stream), [clusterId, id, stream]);
  return (
    <LogViewer
      key={`${id} ${stream}`}
      label={t.title(labelOf(life), t.streams[stream])}
      source={source}
      isLive={life.isAlive}
      downloadUrl={nodeLogUrl(clusterId, id, stream)}
      fileName={`cluster-${clusterId}-node-${life.number}-${stream}.log`}
      {...(life.state === 'ERROR' && { findFirst: lastFault })}
    >
      {children}
    </LogViewer>
  );
}

/** The first state of a node stays the same while others follow. */
function idOf({ states }: NodeLife): number {
  return states.at(-1) ?? 0;
}

/** Nodes that are gone may have had the same number, so their labels have a time, too. */
function labelOf({ number, state, since, isAlive }: NodeLife): string {
  const { label } = stateLook(state, 'cluster');
  const date = dateOf(since);
  return isAlive || !date ? t.life(number, label) : t.past(number, label, exactTime(date));
}

function lastFault(lines: readonly LogLine[]): number {
  return lines.findLastIndex(({ text }) => isFault(text));
}
