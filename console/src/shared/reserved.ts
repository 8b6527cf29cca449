import { commonTexts } from './common-texts';
import type { Reason } from './rights/rights';
import { someNames } from './some-names';

const texts = commonTexts.clusterSelect;

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
  return texts.reserved(someNames(served.map(({ name }) => name)));
}
