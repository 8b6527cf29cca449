import { queryOptions } from '@tanstack/react-query';
import {
  createWorkspace,
  disableWorkspace,
  enableWorkspace,
  getWorkspaceFileUsage,
  updateWorkspace,
} from 'managed-spark/operations';
import type { WorkspaceRead } from 'managed-spark/types';
import { api } from '../../api/client';

export const usageQuery = (workspaceId: number) =>
  queryOptions({
    queryKey: ['files', workspaceId, 'usage'],
    queryFn: ({ signal }) => api.call(getWorkspaceFileUsage, { query: { workspace_id: workspaceId }, signal }),
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
