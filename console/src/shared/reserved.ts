import { commonTexts } from './common-texts';
import type { Reason } from './rights/rights';

const texts = commonTexts.clusterSelect;
/** So many workspaces are named. */
const MAX_NAMES = 3;

export interface ServedWorkspace {
  workspace_id: number;
  name: string;
}

/**
 * Returns why a workspace may not use a cluster: it serves others only.
 * @param served the workspaces for which the cluster is reserved, as far as the user may see them; none if it serves all
 */
export function reservedReason(served: readonly ServedWorkspace[], workspaceId: number): Reason {
  if (served.length === 0 || served.some(({ workspace_id: id }) => id === workspaceId)) return null;
  const names = served.slice(0, MAX_NAMES).map(({ name }) => name);
  return texts.reserved(names, served.length - names.length);
}
