import { idParam } from '../../shared/search-params';

export const WORKSPACE_TABS = ['files', 'jobs'] as const;
export type WorkspaceTab = (typeof WORKSPACE_TABS)[number];

/** The filters of the list of workspaces, as they are in the address. */
export interface WorkspacesSearch {
  q?: string;
  disabled?: 'true';
}

/** The part of a workspace that is shown: a folder, and the search below it; or the jobs. */
export interface WorkspaceSearch {
  tab?: WorkspaceTab;
  folder?: string;
  q?: string;
}

export function readWorkspacesSearch({ q, disabled }: Record<string, unknown>): WorkspacesSearch {
  return { ...withText('q', q), ...(disabled === 'true' ? { disabled } : {}) };
}

export function readWorkspaceSearch({ tab, folder, q }: Record<string, unknown>): WorkspaceSearch {
  const shown = WORKSPACE_TABS.find((one) => one === tab);
  return { ...(shown ? { tab: shown } : {}), ...withText('folder', folder), ...withText('q', q) };
}

/** The file that an editor or a new job is for, and the run that is to be repeated when the file has been mended. */
export function readFileSearch({ path, again }: Record<string, unknown>): { path?: string; again?: number } {
  const runId = idParam(again);
  return { ...withText('path', path), ...(runId === undefined ? {} : { again: runId }) };
}

export function readJobSearch({ tab }: Record<string, unknown>): { tab?: 'history' } {
  return tab === 'history' ? { tab } : {};
}

function withText<N extends string>(name: N, value: unknown): { [K in N]?: string } {
  return (typeof value === 'string' && value !== '' ? { [name]: value } : {}) as { [K in N]?: string };
}
