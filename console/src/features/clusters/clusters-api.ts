import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import {
  destroyCluster,
  disableCluster,
  enableCluster,
  getCluster,
  getClusterMetrics,
  getClusterNodeLog,
  listClusterErrors,
  listClusterNodeStates,
  listClusters,
  listClusterStates,
  resizeCluster,
  searchClusters,
  startCluster,
  stopCluster,
} from 'managed-spark/operations';
import { api, apiUrl } from '../../api/client';
import { pollMs } from '../../shared/live/live-queries';
import type { LiveEvent } from '../../shared/live/live-stream';
import { polledLog, readingLog } from '../../shared/log/log-requests';
import type { LogSource } from '../../shared/log/log-window';
import { type ClustersSearch, isChanging, type NodeStream } from './clusters-search';

const PAGE_SIZE = 100;
const HISTORY_SIZE = 200;
const POLL_MS = 5_000;
const CHANGING_POLL_MS = 1_500;
const LOAD_POLL_MS = 20_000;

const isAbout =
  (clusterId: number) =>
  ({ kind, data }: LiveEvent) =>
    (kind === 'cluster' || kind === 'node') && data.cluster_id === clusterId;

/** Pages of the clusters of the tenant that match the filters, the newest first. */
export const clustersQuery = ({ status, q }: ClustersSearch) =>
  infiniteQueryOptions({
    queryKey: ['clusters', status, q],
    initialPageParam: 1,
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: PAGE_SIZE, pageNumber: pageParam, cluster_status: status };
      return q === undefined
        ? api.call(listClusters, { query, signal })
        : api.call(searchClusters, { query: { ...query, cluster_name: q }, signal });
    },
    getNextPageParam: ({ result_set: { next_page } }) => next_page,
    meta: { isChangedBy: ({ kind }) => kind === 'cluster' || kind === 'node' },
    refetchInterval: () => pollMs(POLL_MS),
  });

/** A cluster with its nodes, which is read more often while it changes. */
export const clusterQuery = (clusterId: number) =>
  queryOptions({
    queryKey: ['cluster', clusterId],
    queryFn: ({ signal }) => api.call(getCluster, { query: { cluster_id: clusterId }, signal }),
    meta: { isChangedBy: isAbout(clusterId) },
    refetchInterval: ({ state: { data } }) =>
      pollMs(data && isChanging(data.cluster_status) ? CHANGING_POLL_MS : POLL_MS),
  });

/** The states that the cluster has had, the newest first; they are read again when its state has changed. */
export const clusterHistoryQuery = (clusterId: number, status: string) =>
  queryOptions({
    queryKey: ['cluster-history', clusterId, status],
    queryFn: ({ signal }) =>
      api.call(listClusterStates, { query: { cluster_id: clusterId, limit: HISTORY_SIZE }, signal }),
    placeholderData: (before) => before,
    meta: { isChangedBy: isAbout(clusterId) },
    refetchInterval: () => (isChanging(status) ? pollMs(CHANGING_POLL_MS) : false),
  });

/** The states that the nodes have had, the newest first. */
export const nodeHistoryQuery = (clusterId: number, status: string) =>
  queryOptions({
    queryKey: ['node-history', clusterId, status],
    queryFn: ({ signal }) =>
      api.call(listClusterNodeStates, { query: { cluster_id: clusterId, limit: HISTORY_SIZE }, signal }),
    placeholderData: (before) => before,
    meta: { isChangedBy: isAbout(clusterId) },
    refetchInterval: () => (isChanging(status) ? pollMs(CHANGING_POLL_MS) : false),
  });

/** The errors of the step in which a node came into a state, in the words of the provider. */
export const nodeErrorsQuery = (clusterId: number, nodeStatusId: number) =>
  queryOptions({
    queryKey: ['node-errors', clusterId, nodeStatusId],
    queryFn: ({ signal }) =>
      api.call(listClusterErrors, { path: { cluster_id: clusterId }, query: { node_status_id: nodeStatusId }, signal }),
    staleTime: 60_000,
  });

export async function start(clusterId: number): Promise<void> {
  await api.call(startCluster, { body: { cluster_id: clusterId } });
}

export async function stop(clusterId: number): Promise<void> {
  await api.call(stopCluster, { body: { cluster_id: clusterId } });
}

export async function destroy(clusterId: number): Promise<void> {
  await api.call(destroyCluster, { body: { cluster_id: clusterId } });
}

/** Changes the minimum and the maximum of a running cluster. */
export async function resize(clusterId: number, { min, max }: { min: number; max: number }): Promise<void> {
  await api.call(resizeCluster, { body: { cluster_id: clusterId, min_instances: min, max_instances: max } });
}

/** Returns a destroyed cluster to STOPPED. Only a disabled one can be enabled. */
export async function restore(clusterId: number, isEnabled: boolean): Promise<void> {
  const body = { cluster_id: clusterId };
  if (isEnabled) await api.call(disableCluster, { body });
  await api.call(enableCluster, { body });
}

export type LoadPeriod = 'hour' | 'day';

/** The use of the nodes over the last hour or day. Nodes report two or three times a minute. */
export const loadQuery = (clusterId: number, period: LoadPeriod) =>
  queryOptions({
    queryKey: ['cluster-load', clusterId, period],
    queryFn: ({ signal }) =>
      api.call(getClusterMetrics, { path: { cluster_id: clusterId }, query: { period }, signal }),
    placeholderData: (before) => before,
    refetchInterval: LOAD_POLL_MS,
  });

/** The output of the node that had a state, read by bytes. */
export function nodeLogSource(clusterId: number, nodeStatusId: number, stream: NodeStream): LogSource {
  const of = { cluster_id: clusterId, node_status_id: nodeStatusId };
  const log = readingLog((part, signal) =>
    api.send(getClusterNodeLog, { path: { log_type: stream }, query: { ...of, ...part }, signal }),
  );
  return { ...log, follow: (offset, signal) => polledLog(log.read, offset, signal) };
}

export function nodeLogUrl(clusterId: number, nodeStatusId: number, stream: NodeStream): string {
  return apiUrl(`/cluster/log/${stream}`, { cluster_id: clusterId, node_status_id: nodeStatusId });
}
