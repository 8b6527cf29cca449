import { queryOptions } from '@tanstack/react-query';
import {
  createTenantSecret,
  createUserSecret,
  createWorkspaceSecret,
  deleteTenantSecret,
  deleteUserSecret,
  deleteWorkspaceSecret,
  listTenantSecrets,
  listUserSecrets,
  listWorkspaceSecrets,
  searchTenantSecrets,
  searchUserSecrets,
  searchWorkspaceSecrets,
  updateTenantSecret,
  updateUserSecret,
  updateWorkspaceSecret,
} from 'managed-spark/operations';
import type { CreateSecret, ResultSet, SecretType, UpdateSecret, UserRef } from 'managed-spark/types';
import { api } from '../../api/client';
import type { AdminSearch, SecretScope } from './admin-search';

const PAGE_SIZE = 50;

/** The owner of secrets: the user, a workspace or the tenant. */
export interface SecretPlace {
  scope: SecretScope;
  /** Only for those of a workspace. */
  workspaceId: number | undefined;
}

export interface Secret {
  id: number;
  name: string;
  type: SecretType;
  description: string | null;
  changedAt: string;
  by: UserRef | null;
}

interface SecretPage {
  secrets: Secret[];
  result_set: ResultSet;
}

export const secretsQuery = (place: SecretPlace, { q, page }: AdminSearch) =>
  queryOptions({
    queryKey: ['secrets', place, q, page],
    queryFn: ({ signal }) => listSecrets(place, { limit: PAGE_SIZE, pageNumber: page }, q, signal),
    enabled: place.scope !== 'workspace' || place.workspaceId !== undefined,
  });

async function listSecrets(
  { scope, workspaceId: workspace_id }: SecretPlace,
  page: { limit: number; pageNumber: number | undefined },
  q: string | undefined,
  signal: AbortSignal,
): Promise<SecretPage> {
  const searched = { ...page, secret_name: q ?? '' };
  const isSearch = q !== undefined;
  switch (scope) {
    case 'user': {
      const { data, result_set } = isSearch
        ? await api.call(searchUserSecrets, { query: searched, signal })
        : await api.call(listUserSecrets, { query: page, signal });
      return { secrets: data.map((row) => secretOf(row, row.user_secret_id)), result_set };
    }
    case 'workspace': {
      const { data, result_set } = isSearch
        ? await api.call(searchWorkspaceSecrets, { query: { ...searched, workspace_id }, signal })
        : await api.call(listWorkspaceSecrets, { query: { ...page, workspace_id }, signal });
      return { secrets: data.map((row) => secretOf(row, row.workspace_secret_id)), result_set };
    }
    case 'tenant': {
      const { data, result_set } = isSearch
        ? await api.call(searchTenantSecrets, { query: searched, signal })
        : await api.call(listTenantSecrets, { query: page, signal });
      return { secrets: data.map((row) => secretOf(row, row.tenant_secret_id)), result_set };
    }
  }
}

interface SecretRow {
  name: string;
  secret_type: SecretType;
  description: string | null;
  last_update_date: string;
  modified_by: UserRef | null;
  created_by: UserRef | null;
}

function secretOf(row: SecretRow, id: number): Secret {
  const { name, secret_type: type, description, last_update_date: changedAt } = row;
  return { id, name, type, description, changedAt, by: row.modified_by ?? row.created_by };
}

export function addSecret({ scope, workspaceId: workspace_id }: SecretPlace, body: CreateSecret): Promise<unknown> {
  switch (scope) {
    case 'user':
      return api.call(createUserSecret, { body });
    case 'workspace':
      return api.call(createWorkspaceSecret, { query: { workspace_id }, body });
    case 'tenant':
      return api.call(createTenantSecret, { body });
  }
}

/** Stores new values in place of the old ones. */
export function rotateSecret(place: SecretPlace, id: number, body: UpdateSecret): Promise<unknown> {
  const { scope, workspaceId: workspace_id } = place;
  switch (scope) {
    case 'user':
      return api.call(updateUserSecret, { query: { user_secret_id: id }, body });
    case 'workspace':
      return api.call(updateWorkspaceSecret, { query: { workspace_id, workspace_secret_id: id }, body });
    case 'tenant':
      return api.call(updateTenantSecret, { query: { tenant_secret_id: id }, body });
  }
}

export function dropSecret({ scope, workspaceId: workspace_id }: SecretPlace, id: number): Promise<unknown> {
  switch (scope) {
    case 'user':
      return api.call(deleteUserSecret, { query: { user_secret_id: id } });
    case 'workspace':
      return api.call(deleteWorkspaceSecret, { query: { workspace_id, workspace_secret_id: id } });
    case 'tenant':
      return api.call(deleteTenantSecret, { query: { tenant_secret_id: id } });
  }
}
