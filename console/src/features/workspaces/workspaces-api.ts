import { queryOptions } from '@tanstack/react-query';
import { NotFound } from 'managed-spark/core';
import {
  createWorkspace,
  disableWorkspace,
  enableWorkspace,
  getWorkspace,
  getWorkspaceFileUsage,
  listClusters,
  listWorkspaces,
  updateWorkspace,
} from 'managed-spark/operations';
import type { ClusterRead, WorkspaceRead } from 'managed-spark/types';
import { api } from '../../api/client';

const MAX_WORKSPACES = 1000;
const MAX_CLUSTERS = 1000;
/** States of clusters that take runs; a stopped one is started for them. The best choice comes first. */
const USABLE = ['RUNNING', 'RESIZING_UP', 'RESIZING_DOWN', 'INITIATING', 'STOPPED', 'STOPPING'];

/** The workspaces that the user may see. */
export const workspaceListQuery = (areEnabled: boolean) =>
  queryOptions({
    queryKey: ['workspaces', 'list', areEnabled],
    queryFn: ({ signal }) =>
      orNone(api.call(listWorkspaces, { query: { limit: MAX_WORKSPACES, enable: areEnabled }, signal })),
  });

export const workspaceQuery = (workspaceId: number) =>
  queryOptions({
    queryKey: ['workspace', workspaceId],
    queryFn: ({ signal }) => api.call(getWorkspace, { query: { workspace_id: workspaceId }, signal }),
    staleTime: 60_000,
  });

export const usageQuery = (workspaceId: number) =>
  queryOptions({
    queryKey: ['files', workspaceId, 'usage'],
    queryFn: ({ signal }) => api.call(getWorkspaceFileUsage, { query: { workspace_id: workspaceId }, signal }),
  });

/** The clusters that can take a run, those that run already first. */
export const usableClustersQuery = queryOptions({
  queryKey: ['clusters', 'usable'],
  queryFn: async ({ signal }): Promise<ClusterRead[]> => {
    const clusters = await orNone(api.call(listClusters, { query: { limit: MAX_CLUSTERS, enable: true }, signal }));
    return clusters
      .filter(({ cluster_status: status }) => USABLE.includes(status))
      .sort((a, b) => USABLE.indexOf(a.cluster_status) - USABLE.indexOf(b.cluster_status));
  },
});

export interface WorkspaceFields {
  name: string;
  description: string | null;
}

/** Returns the id of the new workspace. */
export async function makeWorkspace(body: WorkspaceFields): Promise<number> {
  const { workspace_id } = await api.call(createWorkspace, { body });
  return workspace_id;
}

export async function changeWorkspace({ workspace_id }: WorkspaceRead, body: WorkspaceFields): Promise<void> {
  await api.call(updateWorkspace, { query: { workspace_id }, body });
}

export async function switchWorkspace({ workspace_id }: WorkspaceRead, isEnabled: boolean): Promise<void> {
  await api.call(isEnabled ? enableWorkspace : disableWorkspace, { query: { workspace_id } });
}

/** Returns the records of a page. A list without any is answered by a 404. */
export async function orNone<R>(page: Promise<{ data: R[] }>): Promise<R[]> {
  try {
    return (await page).data;
  } catch (error) {
    if (error instanceof NotFound) return [];
    throw error;
  }
}
