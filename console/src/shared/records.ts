import { queryOptions } from '@tanstack/react-query';
import { NotFound, Unauthenticated } from 'managed-spark/core';
import { getUserInfo, getWorkspace, listClusters, listWorkspaces } from 'managed-spark/operations';
import type { ClusterRead, UserInfo } from 'managed-spark/types';
import { api } from '../api/client';

const MAX_RECORDS = 1_000;
const FRESH_MS = 60_000;
/** States of clusters that take runs; a stopped one is started for them. The best choice comes first. */
const USABLE = ['RUNNING', 'RESIZING_UP', 'RESIZING_DOWN', 'INITIATING', 'STOPPED', 'STOPPING'];

/** Returns the records of a page. A list without any may be answered by a 404. */
export async function orNone<R>(page: Promise<{ data: R[] }>): Promise<R[]> {
  try {
    return (await page).data;
  } catch (error) {
    if (error instanceof NotFound) return [];
    throw error;
  }
}

/** The signed-in user; null if nobody is. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }): Promise<UserInfo | null> => {
    try {
      return await api.call(getUserInfo, { signal });
    } catch (error) {
      if (error instanceof Unauthenticated) return null;
      throw error;
    }
  },
  staleTime: FRESH_MS,
});

/** The workspaces that the user may see: the enabled ones, the disabled ones, or all. */
export const workspacesQuery = (which: 'enabled' | 'disabled' | 'all') =>
  queryOptions({
    queryKey: ['workspaces', which],
    queryFn: ({ signal }) => {
      const enable = which === 'all' ? undefined : which === 'enabled';
      return orNone(api.call(listWorkspaces, { query: { limit: MAX_RECORDS, enable }, signal }));
    },
    staleTime: FRESH_MS,
  });

export const workspaceQuery = (workspaceId: number) =>
  queryOptions({
    queryKey: ['workspace', workspaceId],
    queryFn: ({ signal }) => api.call(getWorkspace, { query: { workspace_id: workspaceId }, signal }),
    staleTime: FRESH_MS,
  });

/** The clusters that can take a run, those that run already first. */
export const usableClustersQuery = queryOptions({
  queryKey: ['clusters', 'usable'],
  queryFn: async ({ signal }): Promise<ClusterRead[]> => {
    const clusters = await orNone(api.call(listClusters, { query: { limit: MAX_RECORDS, enable: true }, signal }));
    return clusters
      .filter(({ cluster_status: status }) => USABLE.includes(status))
      .sort((a, b) => USABLE.indexOf(a.cluster_status) - USABLE.indexOf(b.cluster_status));
  },
  meta: { isChangedBy: ({ kind }) => kind === 'cluster' },
});
