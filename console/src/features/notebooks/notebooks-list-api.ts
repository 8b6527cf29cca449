import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import {
  createNotebookConf,
  listClusters,
  listNotebookConfsOfWorkspaces,
  listWorkspaces,
  uploadWorkspaceFile,
} from 'managed-spark/operations';
import type { ClusterRead, NotebookType } from 'managed-spark/types';
import { api } from '../../api/client';
import { orNone } from './notebooks-api';
import type { NotebooksSearch } from './notebooks-search';

const MAX_RECORDS = 1000;
const POLL_MS = 5_000;
/** States of clusters that take notebooks; a stopped one is started for them. The best choice comes first. */
const USABLE = ['RUNNING', 'RESIZING_UP', 'RESIZING_DOWN', 'INITIATING', 'STOPPED', 'STOPPING'];

/** The notebooks that the user may see, the newest first. */
export const notebooksQuery = ({ q, workspace }: NotebooksSearch) =>
  queryOptions({
    queryKey: ['notebooks', { q, workspace }],
    queryFn: ({ signal }) =>
      api.call(listNotebookConfsOfWorkspaces, {
        query: { limit: MAX_RECORDS, name: q, workspace_id: workspace },
        signal,
      }),
    placeholderData: keepPreviousData,
    refetchInterval: POLL_MS,
  });

export const workspacesQuery = queryOptions({
  queryKey: ['workspaces', 'list', true],
  queryFn: ({ signal }) => orNone(api.call(listWorkspaces, { query: { limit: MAX_RECORDS, enable: true }, signal })),
  staleTime: 60_000,
});

/** The clusters that can take a notebook, those that run already first. */
export const clustersQuery = queryOptions({
  queryKey: ['clusters', 'usable'],
  queryFn: async ({ signal }): Promise<ClusterRead[]> => {
    const clusters = await orNone(api.call(listClusters, { query: { limit: MAX_RECORDS, enable: true }, signal }));
    return clusters
      .filter(({ cluster_status: status }) => USABLE.includes(status))
      .sort((a, b) => USABLE.indexOf(a.cluster_status) - USABLE.indexOf(b.cluster_status));
  },
});

export interface NewNotebook {
  workspaceId: number;
  name: string;
  language: NotebookType;
  clusterId: number;
  /** A file whose cells the notebook gets; null for an empty one. */
  file: File | null;
}

/** Makes a notebook, and returns its id. */
export async function makeNotebook({ workspaceId, name, language, clusterId, file }: NewNotebook): Promise<number> {
  const path = `/${name}.ipynb`;
  if (file) {
    await api.call(uploadWorkspaceFile, {
      query: { workspace_id: workspaceId, path },
      body: file,
      headers: { 'Content-Type': 'application/octet-stream' },
    });
  }
  const { notebook_conf_id } = await api.call(createNotebookConf, {
    path: { workspace_id: workspaceId },
    body: {
      notebook_name: name,
      notebook_type: language,
      notebook_path: path,
      cluster_id: clusterId,
      max_concurrency: 0,
    },
  });
  return notebook_conf_id;
}
