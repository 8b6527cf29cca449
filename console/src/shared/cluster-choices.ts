import { queryOptions, useQueries, useQuery } from '@tanstack/react-query';
import { listClusterWorkspaces } from 'managed-spark/operations';
import type { ClusterRead } from 'managed-spark/types';
import { useMemo } from 'react';
import { api } from '../api/client';
import { orNone, usableClustersQuery } from './records';
import { reservedReason, type ServedWorkspace } from './reserved';
import type { Reason } from './rights/rights';

const MAX_SERVED = 1_000;
/** Limits the requests. Of further clusters, the server refuses those that do not serve the workspace. */
const MAX_ASKED = 40;
const FRESH_MS = 60_000;

/** A cluster that can take work, with the reason if the workspace may not use it. */
export type ClusterChoice = ClusterRead & { why: Reason };

/** The workspaces for which a cluster is reserved, as far as the user may see them. */
const servedQuery = (clusterId: number) =>
  queryOptions({
    queryKey: ['clusters', 'served', clusterId],
    queryFn: async ({ signal }): Promise<ServedWorkspace[]> => {
      const input = { path: { cluster_id: clusterId }, query: { limit: MAX_SERVED }, signal };
      const pairs = await orNone(api.call(listClusterWorkspaces, input));
      return pairs.map(({ workspace }) => workspace);
    },
    staleTime: FRESH_MS,
  });

/** Returns the clusters to choose from for work of a workspace. Those that are reserved for others come last. */
export function useClusterChoices(workspaceId: number | undefined): {
  clusters: readonly ClusterChoice[] | undefined;
  error: Error | null;
} {
  const { data, error } = useQuery(usableClustersQuery);
  const asked = workspaceId === undefined ? [] : (data ?? []).slice(0, MAX_ASKED);
  const served = useQueries({
    queries: asked.map(({ cluster_id: id }) => servedQuery(id)),
    combine: (results) => results.map(({ data: workspaces }) => workspaces),
  });
  const clusters = useMemo(() => {
    const choices = data?.map((cluster, index) => ({
      ...cluster,
      why: workspaceId === undefined ? null : reservedReason(served[index] ?? [], workspaceId),
    }));
    return choices?.toSorted((a, b) => Number(a.why !== null) - Number(b.why !== null));
  }, [data, served, workspaceId]);
  return { clusters, error };
}

/** Returns the id of the best cluster that the workspace may use, as a field holds it. */
export function firstChoice(clusters: readonly ClusterChoice[] | undefined): string | null {
  const first = clusters?.find(({ why }) => why === null);
  return first ? String(first.cluster_id) : null;
}
