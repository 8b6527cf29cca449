import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { createNotebookConf, listNotebookConfsOfWorkspaces, uploadWorkspaceFile } from 'managed-spark/operations';
import type { NotebookType } from 'managed-spark/types';
import { api } from '../../api/client';
import type { NotebooksSearch } from './notebooks-search';

const MAX_RECORDS = 1000;
const POLL_MS = 5_000;

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
