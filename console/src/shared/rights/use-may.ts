import { useQuery } from '@tanstack/react-query';
import { workspaceQuery } from '../records';
import { type Action, type Need, NEEDS } from './needs';
import { includes, lackedRoles, permissionReason, type Reason, roleReason, strongestNeeded } from './rights';
import { allRoles, heldQuery, managersQuery, ownRolesQuery } from './rights-api';

/**
 * Returns why the user may not call some operations; null if they may call all of them. Until it is known, and if it cannot be, nothing
 * is forbidden here: the server refuses what is not allowed.
 * @param workspaceId the workspace that the operations are about
 */
export function useMay(actions: Action | readonly Action[], workspaceId?: number): Reason {
  const needs: Need[] = [actions].flat().map((action) => NEEDS[action]);
  const needed = workspaceId === undefined ? null : strongestNeeded(needs);
  const id = workspaceId ?? 0;
  const { data: roles } = useQuery({ ...ownRolesQuery, enabled: needs.some((need) => 'roles' in need) });
  const { data: held } = useQuery({ ...heldQuery(id), enabled: needed !== null });
  const isLacking = needed !== null && held !== undefined && !includes(held, needed);
  const { data: workspace } = useQuery({ ...workspaceQuery(id), enabled: isLacking && held !== null });
  const { data: managers = [] } = useQuery({ ...managersQuery(id), enabled: isLacking && held !== null });
  const lacked = roles ? lackedRoles(needs, allRoles(roles)) : null;
  if (lacked) return roleReason(lacked);
  return isLacking ? permissionReason({ needed, held, workspace: workspace?.name, managers }) : null;
}
