import { type QueryClient, queryOptions } from '@tanstack/react-query';
import {
  addGroupMember,
  assignUserRole,
  createGroup,
  type CreateGroupInput,
  createUser,
  type CreateUserInput,
  deleteGroup,
  disableUser,
  enableUser,
  getAdminUserRoles,
  getGroupById,
  getUserById,
  listAdminGroups,
  listAdminUsers,
  listGroups,
  listRoles,
  listUsers,
  removeGroupMember,
  removeUserRole,
  searchAdminGroups,
  searchAdminUsers,
  searchGroups,
  searchUsers,
} from 'managed-spark/operations';
import type { GroupPage, Role, UserPage } from 'managed-spark/types';
import { api } from '../../api/client';
import type { AdminSearch } from './admin-search';

const PAGE_SIZE = 50;
/** Members and groups that fit into a drawer; the list of users shows the others. */
const MAX_IN_DRAWER = 50;
const MAX_SUGGESTIONS = 20;

/** The roles that an administrator of a tenant gives, the weakest first. */
export const TENANT_ROLES = ['USER', 'CAN MANAGE CLUSTER', 'ADMIN'] as const satisfies readonly Role[];

export const usersQuery = ({ q, page: pageNumber, all, group }: AdminSearch) =>
  queryOptions({
    queryKey: ['users', { q, pageNumber, all, group }],
    queryFn: ({ signal }): Promise<UserPage> => {
      const page = { limit: PAGE_SIZE, pageNumber };
      const isWide = all !== undefined || group !== undefined;
      if (isWide && q !== undefined) {
        return api.call(searchUsers, { query: { ...page, group_id: group, username: q }, signal });
      }
      if (isWide) return api.call(listUsers, { query: { ...page, group_id: group }, signal });
      return q === undefined
        ? api.call(listAdminUsers, { query: page, signal })
        : api.call(searchAdminUsers, { query: { ...page, username: q }, signal });
    },
  });

export const groupsQuery = ({ q, page: pageNumber, all }: AdminSearch) =>
  queryOptions({
    queryKey: ['groups', { q, pageNumber, all }],
    queryFn: ({ signal }): Promise<GroupPage> => {
      const page = { limit: PAGE_SIZE, pageNumber };
      if (q === undefined) return api.call(all ? listGroups : listAdminGroups, { query: page, signal });
      return api.call(all ? searchGroups : searchAdminGroups, { query: { ...page, groupname: q }, signal });
    },
  });

export const userQuery = (user_id: number) =>
  queryOptions({
    queryKey: ['user', user_id],
    queryFn: ({ signal }) => api.call(getUserById, { path: { user_id }, signal }),
  });

export const userRolesQuery = (user_id: number) =>
  queryOptions({
    queryKey: ['user', user_id, 'roles'],
    queryFn: ({ signal }) => api.call(getAdminUserRoles, { path: { user_id }, signal }),
    retry: false,
  });

export const userGroupsQuery = (user_id: number) =>
  queryOptions({
    queryKey: ['user', user_id, 'groups'],
    queryFn: ({ signal }) => api.call(listGroups, { query: { user_id, limit: MAX_IN_DRAWER }, signal }),
  });

export const groupQuery = (group_id: number) =>
  queryOptions({
    queryKey: ['group', group_id],
    queryFn: ({ signal }) => api.call(getGroupById, { path: { group_id }, signal }),
  });

export const membersQuery = (group_id: number) =>
  queryOptions({
    queryKey: ['group', group_id, 'members'],
    queryFn: ({ signal }) => api.call(listUsers, { query: { group_id, limit: MAX_IN_DRAWER }, signal }),
  });

/** Accounts whose user name contains a text. */
export const accountsQuery = (username: string) =>
  queryOptions({
    queryKey: ['accounts', username],
    queryFn: ({ signal }) => api.call(searchUsers, { query: { username, limit: MAX_SUGGESTIONS }, signal }),
    enabled: username !== '',
    staleTime: 30_000,
  });

const rolesQuery = queryOptions({
  queryKey: ['roles'],
  queryFn: ({ signal }) => api.call(listRoles, { signal }),
  staleTime: Infinity,
});

async function roleId(queries: QueryClient, wanted: Role): Promise<number> {
  const roles = await queries.ensureQueryData(rolesQuery);
  const found = roles.find(({ role }) => role === wanted);
  if (!found) throw new Error(`The server knows no role ${wanted}`);
  return found.role_id;
}

/** Whatever shows users, groups or rights is read again. */
async function changed(queries: QueryClient): Promise<void> {
  const kinds = ['users', 'user', 'groups', 'group', 'accounts', 'access', 'rights', 'directory'];
  await queries.invalidateQueries({ predicate: ({ queryKey }) => kinds.includes(String(queryKey[0])) });
}

/** Makes the changes of one browser, each of which updates what is on the screen. */
export function peopleChanges(queries: QueryClient) {
  const and = async (work: Promise<unknown>): Promise<void> => {
    await work;
    await changed(queries);
  };
  return {
    createUser: async (body: Omit<CreateUserInput['body'], 'role_ids'>, role: Role) =>
      and(api.call(createUser, { body: { ...body, role_ids: [await roleId(queries, role)] } })),
    disable: (user_id: number) => and(api.call(disableUser, { path: { user_id } })),
    enable: (user_id: number) => and(api.call(enableUser, { path: { user_id } })),
    giveRole: async (user_id: number, role: Role) =>
      and(api.call(assignUserRole, { path: { user_id, role_id: await roleId(queries, role) } })),
    takeRole: async (user_id: number, role: Role) =>
      and(api.call(removeUserRole, { path: { user_id, role_id: await roleId(queries, role) } })),
    createGroup: async (body: Omit<CreateGroupInput['body'], 'role_ids'>, role: Role) =>
      and(api.call(createGroup, { body: { ...body, role_ids: [await roleId(queries, role)] } })),
    deleteGroup: (group_id: number) => and(api.call(deleteGroup, { path: { group_id } })),
    addMember: (group_id: number, user_id: number) => and(api.call(addGroupMember, { path: { group_id, user_id } })),
    removeMember: (group_id: number, user_id: number) =>
      and(api.call(removeGroupMember, { path: { group_id, user_id } })),
  };
}
