import { queryOptions } from '@tanstack/react-query';
import { NotFound } from 'managed-spark/core';
import {
  assignWorkspaceGroupPermission,
  assignWorkspaceUserPermission,
  getAdminGroup,
  getAdminUser,
  getWorkspaceGroupPermission,
  getWorkspaceUserPermission,
  listWorkspaceGroupsAccess,
  listWorkspacePermissions,
  listWorkspaceUsersAccess,
  revokeWorkspaceGroupPermission,
  revokeWorkspaceUserPermission,
  searchAdminGroups,
  searchAdminUsers,
  searchWorkspaceGroupsAccess,
  searchWorkspaceUsersAccess,
} from 'managed-spark/operations';
import type { ResultSet, UserRef, WorkspacePermissionName } from 'managed-spark/types';
import { api } from '../../api/client';
import type { AccessSearch, Holders } from './access-search';

const PAGE_SIZE = 50;
const MAX_SUGGESTIONS = 20;

/** Somebody who holds a permission on the workspace: a user or a group. */
export interface Holder {
  id: number;
  name: string;
  mail: string | null;
  strongest: WorkspacePermissionName;
}

/** A permission of a holder, and where it comes from. */
export interface Grant {
  permissionId: number;
  permission: WorkspacePermissionName;
  /** The group through which a user holds it; null if it is held directly. */
  group: { id: number; name: string } | null;
  by: UserRef | null;
  since: string;
}

/** All that a user or group holds on a workspace. */
export interface Rights {
  name: string;
  effective: WorkspacePermissionName | null;
  grants: Grant[];
}

/** A user or a group, and the workspace in question. */
export interface HolderKey {
  workspaceId: number;
  of: Holders;
  id: number;
}

/** The permissions on workspaces, each of which includes those before it. */
export const permissionsQuery = queryOptions({
  queryKey: ['workspace-permissions'],
  queryFn: ({ signal }) => api.call(listWorkspacePermissions, { signal }),
  staleTime: Infinity,
});

export const holdersQuery = (workspaceId: number, search: AccessSearch) =>
  queryOptions({
    queryKey: ['access', workspaceId, search.of ?? 'users', search.q, search.permission, search.page],
    queryFn: ({ signal }) =>
      search.of === 'groups' ? groupsOf(workspaceId, search, signal) : usersOf(workspaceId, search, signal),
  });

interface HolderPage {
  holders: Holder[];
  result_set: ResultSet;
}

async function usersOf(workspace_id: number, search: AccessSearch, signal: AbortSignal): Promise<HolderPage> {
  const { path, query } = inputOf(workspace_id, search);
  const { data, result_set } =
    search.q === undefined
      ? await api.call(listWorkspaceUsersAccess, { path, query, signal })
      : await api.call(searchWorkspaceUsersAccess, { path, query: { ...query, username: search.q }, signal });
  const holders = [data.permission]
    .flat()
    .flatMap(({ name: strongest, users }) =>
      users.map(({ user_id: id, username: name, email: mail }) => ({ id, name, mail, strongest })),
    );
  return { holders, result_set };
}

async function groupsOf(workspace_id: number, search: AccessSearch, signal: AbortSignal): Promise<HolderPage> {
  const { path, query } = inputOf(workspace_id, search);
  const { data, result_set } =
    search.q === undefined
      ? await api.call(listWorkspaceGroupsAccess, { path, query, signal })
      : await api.call(searchWorkspaceGroupsAccess, { path, query: { ...query, groupname: search.q }, signal });
  const holders = [data.permission]
    .flat()
    .flatMap(({ name: strongest, groups }) =>
      groups.map(({ group_id: id, group_name: name, group_mail: mail }) => ({ id, name, mail, strongest })),
    );
  return { holders, result_set };
}

function inputOf(workspace_id: number, { permission: permission_id, page: pageNumber }: AccessSearch) {
  return { path: { workspace_id }, query: { limit: PAGE_SIZE, permission_id, pageNumber } };
}

/** The rights of a user or group on a workspace with the origin of each. */
export const rightsQuery = (key: HolderKey) =>
  queryOptions({
    queryKey: ['rights', key],
    queryFn: async ({ signal }): Promise<Rights> => {
      try {
        return await (key.of === 'users' ? userRights(key, signal) : groupRights(key, signal));
      } catch (error) {
        if (error instanceof NotFound) return { name: await nameOf(key, signal), effective: null, grants: [] };
        throw error;
      }
    },
  });

async function userRights({ workspaceId: workspace_id, id }: HolderKey, signal: AbortSignal): Promise<Rights> {
  const rights = await api.call(getWorkspaceUserPermission, { path: { workspace_id, user_id: id }, signal });
  const { user_permission: direct, group_permission: groups } = rights;
  return {
    name: rights.username,
    effective: rights.effective_permission.name,
    grants: [
      ...(direct ? [grantOf(direct, null)] : []),
      ...(groups ?? []).map((entry) => grantOf(entry, { id: entry.group_id, name: entry.group_name })),
    ],
  };
}

async function groupRights({ workspaceId: workspace_id, id }: HolderKey, signal: AbortSignal): Promise<Rights> {
  const rights = await api.call(getWorkspaceGroupPermission, { path: { workspace_id, group_id: id }, signal });
  const { group_permission: entry } = rights;
  return { name: rights.group_name, effective: entry.permission.name, grants: [grantOf(entry, null)] };
}

interface Entry {
  permission: { auth_workspace_perm_id: number; name: WorkspacePermissionName };
  created_by: UserRef | null;
  from_date: string;
}

function grantOf({ permission, created_by: by, from_date: since }: Entry, group: Grant['group']): Grant {
  return { permissionId: permission.auth_workspace_perm_id, permission: permission.name, group, by, since };
}

/** The name of somebody who holds nothing on the workspace, if the directory may be read. */
async function nameOf({ of, id }: HolderKey, signal: AbortSignal): Promise<string> {
  try {
    if (of === 'users') return (await api.call(getAdminUser, { path: { user_id: id }, signal })).username;
    return (await api.call(getAdminGroup, { path: { group_id: id }, signal })).group_name;
  } catch {
    return `#${id}`;
  }
}

/** Users or groups of the tenant whose name contains a text. */
export const directoryQuery = (of: Holders, text: string) =>
  queryOptions({
    queryKey: ['directory', of, text],
    queryFn: async ({ signal }): Promise<{ id: number; name: string }[]> => {
      const page = { limit: MAX_SUGGESTIONS };
      if (of === 'users') {
        const { data } = await api.call(searchAdminUsers, { query: { ...page, username: text }, signal });
        return data.map(({ user_id: id, username: name }) => ({ id, name }));
      }
      const { data } = await api.call(searchAdminGroups, { query: { ...page, groupname: text }, signal });
      return data.map(({ group_id: id, group_name: name }) => ({ id, name }));
    },
    enabled: text !== '',
    staleTime: 30_000,
  });

/** Gives a permission in place of the one that is held directly. */
export function grant({ workspaceId: workspace_id, of, id }: HolderKey, permission_id: number): Promise<unknown> {
  const path = { workspace_id };
  return of === 'users'
    ? api.call(assignWorkspaceUserPermission, { path, body: { user_id: id, permission_id } })
    : api.call(assignWorkspaceGroupPermission, { path, body: { group_id: id, permission_id } });
}

/** Takes the permission that is held directly. */
export function revoke({ workspaceId: workspace_id, of, id }: HolderKey, permission_id: number): Promise<unknown> {
  return of === 'users'
    ? api.call(revokeWorkspaceUserPermission, { path: { workspace_id, user_id: id, permission_id } })
    : api.call(revokeWorkspaceGroupPermission, { path: { workspace_id, group_id: id, permission_id } });
}
