import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { type Operation } from 'managed-spark/core';
import { getAuthType, listMyTenants, selectTenant } from 'managed-spark/operations';
import { api } from '../../api/client';
import { sessionQuery } from '../../shared/records';

/** Number of tenants that can be chosen from without a search. */
const MAX_TENANTS = 1000;

interface BrowserLogin {
  username?: string;
  password?: string;
}

// The API's document leaves out these operations, because only the console has a session in a cookie.
const openSession: Operation<{ body: BrowserLogin }, { loginURL?: string }> = {
  name: 'openBrowserSession',
  method: 'POST',
  path: '/api/v1/browser/session',
};
const closeSession: Operation<object, unknown> = {
  name: 'closeBrowserSession',
  method: 'DELETE',
  path: '/api/v1/browser/session',
};
const closeAllSessions: Operation<object, unknown> = {
  name: 'closeAllSessions',
  method: 'DELETE',
  path: '/api/v1/browser/sessions',
};

/** The way in which users log in here. */
export const authTypeQuery = queryOptions({
  queryKey: ['auth-type'],
  queryFn: ({ signal }) => api.call(getAuthType, { signal }),
  staleTime: Infinity,
});

/** The tenants that the user can work in. */
export const tenantsQuery = queryOptions({
  queryKey: ['tenants'],
  queryFn: ({ signal }) => api.call(listMyTenants, { query: { limit: MAX_TENANTS }, signal }),
  staleTime: 60_000,
});

/** Opens a session. Returns the page of the provider if the login continues there. */
export async function logIn(login: BrowserLogin): Promise<string | null> {
  const { loginURL = null } = await api.call(openSession, { body: login });
  return loginURL;
}

/** @param everywhere also ends the sessions in other browsers and clients */
export async function logOut(queries: QueryClient, everywhere: boolean): Promise<void> {
  await api.call(everywhere ? closeAllSessions : closeSession);
  forgetUser(queries);
}

/** Drops what the user saw, so that the next one does not see it. */
export function forgetUser(queries: QueryClient): void {
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' && queryKey[0] !== 'auth-type' });
  queries.setQueryData(sessionQuery.queryKey, null);
}

export async function chooseTenant(queries: QueryClient, tenantId: string): Promise<void> {
  await api.call(selectTenant, { path: { tenant_id: tenantId } });
  queries.removeQueries({
    predicate: ({ queryKey }) => !['session', 'tenants', 'auth-type'].includes(String(queryKey[0])),
  });
  await queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
}
