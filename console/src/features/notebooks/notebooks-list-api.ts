import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query';
import { createNotebookConf, listNotebookConfsOfWorkspaces, uploadWorkspaceFile } from 'managed-spark/operations';
import type { NotebookType } from 'managed-spark/types';
import { api } from '../../api/client';
import { pollMs } from '../../shared/live/live-queries';
import type { NotebooksSearch } from './notebooks-search';

const PAGE_SIZE = 100;
const POLL_MS = 5_000;

/** Pages of the notebooks that the user may see, the newest first. */
export const notebooksQuery = ({ q, workspace }: NotebooksSearch) =>
  infiniteQueryOptions({
    queryKey: ['notebooks', { q, workspace }],
    initialPageParam: 1,
    queryFn: ({ pageParam, signal }) =>
      api.call(listNotebookConfsOfWorkspaces, {
        query: { limit: PAGE_SIZE, pageNumber: pageParam, name: q, workspace_id: workspace },
        signal,
      }),
    getNextPageParam: ({ result_set: { next_page } }) => next_page,
    placeholderData: keepPreviousData,
    meta: { isChangedBy: ({ kind }) => kind === 'notebook' },
    refetchInterval: () => pollMs(POLL_MS),
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
