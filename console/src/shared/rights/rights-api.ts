import { queryOptions } from '@tanstack/react-query';
import { Forbidden, NotFound } from 'managed-spark/core';
import { getMyRoles, getWorkspaceUserPermission, listWorkspaceUsersAccess } from 'managed-spark/operations';
import type { Role, WorkspacePermissionName, WorkspaceUserPermissionRead } from 'managed-spark/types';
import { api } from '../../api/client';
import { sessionQuery } from '../records';
import { adminRole, managersOf } from './rights';

/** So many of those who may enter a workspace are searched for managers. */
const MAX_USERS = 100;
/** A grant or revocation shows after this time; a refused request has all of it read again. */
const FRESH_MS = 60_000;

/** All that is kept of the rights of the user begins with this. */
const RIGHTS = 'rights';

/** The roles that the user holds in the tenant, directly and through groups. */
export const ownRolesQuery = queryOptions({
  queryKey: [RIGHTS, 'roles'],
  queryFn: ({ signal }) => api.call(getMyRoles, { signal }),
  staleTime: FRESH_MS,
});

export function allRoles({ user_roles: direct, group_roles: through }: Record<'user_roles' | 'group_roles', Role[]>) {
  return [...new Set([...direct, ...through])];
}

/** The permission of the user on a workspace, and where it comes from; null for none. Administrators need none. */
export const ownPermissionQuery = (workspaceId: number) =>
  queryOptions({
    queryKey: [RIGHTS, 'permission', workspaceId],
    queryFn: async ({ signal, client }): Promise<WorkspaceUserPermissionRead | null> => {
      const user = await client.fetchQuery(sessionQuery);
      if (!user) return null;
      const path = { workspace_id: workspaceId, user_id: user.user_id };
      try {
        return await api.call(getWorkspaceUserPermission, { path, signal });
      } catch (error) {
        if (error instanceof Forbidden || error instanceof NotFound) return null;
        throw error;
      }
    },
    staleTime: FRESH_MS,
  });

/** The most that the user may do in a workspace; null for nothing. */
export const heldQuery = (workspaceId: number) =>
  queryOptions({
    queryKey: [RIGHTS, 'held', workspaceId],
    queryFn: async ({ client }): Promise<WorkspacePermissionName | null> => {
      const roles = await client.fetchQuery(ownRolesQuery);
      if (adminRole(allRoles(roles)) !== null) return 'MANAGE';
      const own = await client.fetchQuery(ownPermissionQuery(workspaceId));
      return own?.effective_permission.name ?? null;
    },
    staleTime: FRESH_MS,
  });

/** Names of users who can grant permissions on a workspace; none if the user may not see them. */
export const managersQuery = (workspaceId: number) =>
  queryOptions({
    queryKey: [RIGHTS, 'managers', workspaceId],
    queryFn: async ({ signal }): Promise<string[]> => {
      const input = { path: { workspace_id: workspaceId }, query: { limit: MAX_USERS }, signal };
      try {
        const page = await api.call(listWorkspaceUsersAccess, input);
        return managersOf([page.data.permission].flat());
      } catch (error) {
        if (error instanceof Forbidden || error instanceof NotFound) return [];
        throw error;
      }
    },
    staleTime: FRESH_MS,
  });
