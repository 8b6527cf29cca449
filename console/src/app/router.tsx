import type { QueryClient } from '@tanstack/react-query';
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { consolePath } from '../api/client';
import { readClusterSearch, readClustersSearch } from '../features/clusters/clusters-search';
import { readAccessSearch } from '../features/access/access-search';
import { readAdminSearch } from '../features/admin/admin-search';
import { readAuditSearch } from '../features/admin/audit-search';
import { readRunSearch } from '../features/runs/run-search';
import { readRunsSearch } from '../features/runs/runs-search';
import { ProblemPanel } from '../shared/problem-panel';
import { texts } from '../shared/texts';
import { Root } from './root';

const root = createRootRoute({ component: Root });

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    // eslint-disable-next-line typescript/only-throw-error -- the router's way of leading on
    throw redirect({ to: '/runs' });
  },
});

const runs = createRoute({
  getParentRoute: () => root,
  path: '/runs',
  validateSearch: readRunsSearch,
  component: lazyRouteComponent(() => import('../features/runs/runs-screen'), 'RunsScreen'),
});

const run = createRoute({
  getParentRoute: () => root,
  path: '/runs/$workspaceId/$runId',
  params: {
    parse: ({ workspaceId, runId }) => ({ workspaceId: Number(workspaceId), runId: Number(runId) }),
    stringify: ({ workspaceId, runId }) => ({ workspaceId: String(workspaceId), runId: String(runId) }),
  },
  validateSearch: readRunSearch,
  component: lazyRouteComponent(() => import('../features/runs/run-screen'), 'RunScreen'),
});

const clusters = createRoute({
  getParentRoute: () => root,
  path: '/clusters',
  validateSearch: readClustersSearch,
  component: lazyRouteComponent(() => import('../features/clusters/clusters-screen'), 'ClustersScreen'),
});

const cluster = createRoute({
  getParentRoute: () => root,
  path: '/clusters/$clusterId',
  params: {
    parse: ({ clusterId }) => ({ clusterId: Number(clusterId) }),
    stringify: ({ clusterId }) => ({ clusterId: String(clusterId) }),
  },
  validateSearch: readClusterSearch,
  component: lazyRouteComponent(() => import('../features/clusters/cluster-screen'), 'ClusterScreen'),
});

const access = createRoute({
  getParentRoute: () => root,
  path: '/access',
  validateSearch: readAccessSearch,
  component: lazyRouteComponent(() => import('../features/access/access-screen'), 'AccessScreen'),
});

const admin = createRoute({
  getParentRoute: () => root,
  path: '/admin',
  beforeLoad: () => {
    // eslint-disable-next-line typescript/only-throw-error -- the router's way of leading on
    throw redirect({ to: '/admin/users' });
  },
});

const users = createRoute({
  getParentRoute: () => root,
  path: '/admin/users',
  validateSearch: readAdminSearch,
  component: lazyRouteComponent(() => import('../features/admin/users-screen'), 'UsersScreen'),
});

const groups = createRoute({
  getParentRoute: () => root,
  path: '/admin/groups',
  validateSearch: readAdminSearch,
  component: lazyRouteComponent(() => import('../features/admin/groups-screen'), 'GroupsScreen'),
});

const secrets = createRoute({
  getParentRoute: () => root,
  path: '/admin/secrets',
  validateSearch: readAdminSearch,
  component: lazyRouteComponent(() => import('../features/admin/secrets-screen'), 'SecretsScreen'),
});

const tokens = createRoute({
  getParentRoute: () => root,
  path: '/admin/tokens',
  validateSearch: readAdminSearch,
  component: lazyRouteComponent(() => import('../features/admin/tokens-screen'), 'TokensScreen'),
});

const audit = createRoute({
  getParentRoute: () => root,
  path: '/admin/audit',
  validateSearch: readAuditSearch,
  component: lazyRouteComponent(() => import('../features/admin/audit-screen'), 'AuditScreen'),
});

const routeTree = root.addChildren([
  start,
  runs,
  run,
  clusters,
  cluster,
  access,
  admin,
  users,
  groups,
  secrets,
  tokens,
  audit,
]);

/** Filters are plain parameters in the address; lists are separated by commas. */
function searchText(search: Record<string, unknown>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (Array.isArray(value)) query.set(name, value.join(','));
    else if (typeof value === 'string' || typeof value === 'number') query.set(name, String(value));
  }
  const text = query.toString().replaceAll('%2C', ',');
  return text === '' ? '' : `?${text}`;
}

export function makeRouter(queries: QueryClient) {
  return createRouter({
    routeTree,
    basepath: consolePath,
    context: { queries },
    defaultPreload: 'intent',
    scrollRestoration: true,
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: searchText,
    defaultErrorComponent: ({ error }) => <ProblemPanel error={error} title={texts.problem.unexpected} />,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
