import type { QueryClient } from '@tanstack/react-query';
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { consolePath } from '../api/client';
import { readClusterSearch, readClustersSearch } from '../features/clusters/clusters-search';
import { readAccessSearch } from '../features/access/access-search';
import { readAccountSearch } from '../features/account/account-search';
import { readAdminSearch } from '../features/admin/admin-search';
import { readAuditSearch } from '../features/admin/audit-search';
import { readCostsSearch } from '../features/costs/costs-search';
import { readDataSearch } from '../features/data/data-search';
import { readNotebooksSearch } from '../features/notebooks/notebooks-search';
import { readRunSearch } from '../features/runs/run-search';
import { readRunsSearch } from '../features/runs/runs-search';
import { readSqlSearch } from '../features/sql/sql-search';
import {
  readFileSearch,
  readJobSearch,
  readWorkspaceSearch,
  readWorkspacesSearch,
} from '../features/workspaces/workspaces-search';
import { ProblemPanel } from '../shared/problem-panel';
import { texts } from '../shared/texts';
import { Root } from './root';

const root = createRootRoute({ component: Root });

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => redirect({ to: '/runs', throw: true }),
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

const newCluster = createRoute({
  getParentRoute: () => root,
  path: '/clusters/new',
  component: lazyRouteComponent(() => import('../features/clusters/cluster-form-screen'), 'NewClusterScreen'),
});

const ofCluster = {
  parse: ({ clusterId }: { clusterId: string }) => ({ clusterId: Number(clusterId) }),
  stringify: ({ clusterId }: { clusterId: number }) => ({ clusterId: String(clusterId) }),
};

const editCluster = createRoute({
  getParentRoute: () => root,
  path: '/clusters/$clusterId/edit',
  params: ofCluster,
  component: lazyRouteComponent(() => import('../features/clusters/cluster-form-screen'), 'EditClusterScreen'),
});

const cluster = createRoute({
  getParentRoute: () => root,
  path: '/clusters/$clusterId',
  params: ofCluster,
  validateSearch: readClusterSearch,
  component: lazyRouteComponent(() => import('../features/clusters/cluster-screen'), 'ClusterScreen'),
});

const sql = createRoute({
  getParentRoute: () => root,
  path: '/sql',
  validateSearch: readSqlSearch,
  component: lazyRouteComponent(() => import('../features/sql/sql-screen'), 'SqlScreen'),
});

const data = createRoute({
  getParentRoute: () => root,
  path: '/data',
  validateSearch: readDataSearch,
  component: lazyRouteComponent(() => import('../features/data/data-screen'), 'DataScreen'),
});

const notebooks = createRoute({
  getParentRoute: () => root,
  path: '/notebooks',
  validateSearch: readNotebooksSearch,
  component: lazyRouteComponent(() => import('../features/notebooks/notebooks-screen'), 'NotebooksScreen'),
});

const notebook = createRoute({
  getParentRoute: () => root,
  path: '/notebooks/$workspaceId/$notebookConfId',
  params: {
    parse: ({ workspaceId, notebookConfId }) => ({
      workspaceId: Number(workspaceId),
      notebookConfId: Number(notebookConfId),
    }),
    stringify: ({ workspaceId, notebookConfId }) => ({
      workspaceId: String(workspaceId),
      notebookConfId: String(notebookConfId),
    }),
  },
  component: lazyRouteComponent(() => import('../features/notebooks/notebook-screen'), 'NotebookScreen'),
});

const costs = createRoute({
  getParentRoute: () => root,
  path: '/costs',
  validateSearch: readCostsSearch,
  component: lazyRouteComponent(() => import('../features/costs/costs-screen'), 'CostsScreen'),
});

const access = createRoute({
  getParentRoute: () => root,
  path: '/access',
  validateSearch: readAccessSearch,
  component: lazyRouteComponent(() => import('../features/access/access-screen'), 'AccessScreen'),
});

const account = createRoute({
  getParentRoute: () => root,
  path: '/account',
  validateSearch: readAccountSearch,
  component: lazyRouteComponent(() => import('../features/account/account-screen'), 'AccountScreen'),
});

const admin = createRoute({
  getParentRoute: () => root,
  path: '/admin',
  beforeLoad: () => redirect({ to: '/admin/users', throw: true }),
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

const inWorkspace = {
  parse: ({ workspaceId }: { workspaceId: string }) => ({ workspaceId: Number(workspaceId) }),
  stringify: ({ workspaceId }: { workspaceId: number }) => ({ workspaceId: String(workspaceId) }),
};

const workspaces = createRoute({
  getParentRoute: () => root,
  path: '/workspaces',
  validateSearch: readWorkspacesSearch,
  component: lazyRouteComponent(() => import('../features/workspaces/workspaces-screen'), 'WorkspacesScreen'),
});

const workspace = createRoute({
  getParentRoute: () => root,
  path: '/workspaces/$workspaceId',
  params: inWorkspace,
  validateSearch: readWorkspaceSearch,
  component: lazyRouteComponent(() => import('../features/workspaces/workspace-screen'), 'WorkspaceScreen'),
});

const file = createRoute({
  getParentRoute: () => root,
  path: '/workspaces/$workspaceId/file',
  params: inWorkspace,
  validateSearch: readFileSearch,
  component: lazyRouteComponent(() => import('../features/workspaces/file-screen'), 'FileScreen'),
});

const newJob = createRoute({
  getParentRoute: () => root,
  path: '/workspaces/$workspaceId/jobs/new',
  params: inWorkspace,
  validateSearch: readFileSearch,
  component: lazyRouteComponent(() => import('../features/workspaces/job-screen'), 'NewJobScreen'),
});

const job = createRoute({
  getParentRoute: () => root,
  path: '/workspaces/$workspaceId/jobs/$jobId',
  params: {
    parse: ({ workspaceId, jobId }) => ({ workspaceId: Number(workspaceId), jobId: Number(jobId) }),
    stringify: ({ workspaceId, jobId }) => ({ workspaceId: String(workspaceId), jobId: String(jobId) }),
  },
  validateSearch: readJobSearch,
  component: lazyRouteComponent(() => import('../features/workspaces/job-screen'), 'JobScreen'),
});

const routeTree = root.addChildren([
  start,
  runs,
  run,
  clusters,
  newCluster,
  editCluster,
  cluster,
  notebooks,
  notebook,
  workspaces,
  workspace,
  file,
  newJob,
  job,
  sql,
  data,
  costs,
  access,
  account,
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
