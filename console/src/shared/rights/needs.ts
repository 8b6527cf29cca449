import type { Role, WorkspacePermissionName } from 'managed-spark/types';

/** An operation needs a permission on the workspace that it is about, or one of some roles in the tenant. */
export type Need = { readonly permission: WorkspacePermissionName } | { readonly roles: readonly Role[] };

const RUN: Need = { permission: 'RUN' };
const EDIT: Need = { permission: 'EDIT' };
const MANAGE: Need = { permission: 'MANAGE' };
const MEMBERS: Need = { roles: ['PLATFORM ADMIN', 'ADMIN', 'CAN MANAGE CLUSTER', 'USER'] };
const CLUSTER_MANAGERS: Need = { roles: ['CAN MANAGE CLUSTER', 'ADMIN', 'PLATFORM ADMIN'] };
const ADMINS: Need = { roles: ['ADMIN', 'PLATFORM ADMIN'] };

/**
 * The needs of the operations behind buttons and menus, by the names of the operations. The guards of the API decide; a unit test
 * compares this with what they declare.
 */
export const NEEDS = {
  createCluster: CLUSTER_MANAGERS,
  updateCluster: CLUSTER_MANAGERS,
  startCluster: CLUSTER_MANAGERS,
  stopCluster: CLUSTER_MANAGERS,
  resizeCluster: CLUSTER_MANAGERS,
  destroyCluster: CLUSTER_MANAGERS,
  enableCluster: CLUSTER_MANAGERS,

  createJob: RUN,
  killJob: RUN,
  thriftSql: RUN,
  createJobConf: EDIT,
  updateJobConf: EDIT,
  enableJobConf: EDIT,
  disableJobConf: EDIT,

  createNotebookConf: EDIT,
  deleteNotebookConf: EDIT,
  createNotebook: RUN,
  killNotebook: RUN,
  interruptKernel: RUN,
  restartKernel: RUN,
  updateNotebookCells: RUN,

  createWorkspace: MEMBERS,
  updateWorkspace: EDIT,
  enableWorkspace: EDIT,
  disableWorkspace: EDIT,
  uploadWorkspaceFile: EDIT,
  moveWorkspaceFile: EDIT,
  deleteWorkspaceFile: EDIT,

  assignWorkspaceUserPermission: MANAGE,
  assignWorkspaceGroupPermission: MANAGE,
  revokeWorkspaceUserPermission: MANAGE,
  revokeWorkspaceGroupPermission: MANAGE,

  createUser: ADMINS,
  createGroup: ADMINS,
  createToken: MEMBERS,
  createUserSecret: MEMBERS,
  updateUserSecret: MEMBERS,
  deleteUserSecret: MEMBERS,
  createWorkspaceSecret: MANAGE,
  updateWorkspaceSecret: MANAGE,
  deleteWorkspaceSecret: MANAGE,
  createTenantSecret: ADMINS,
  updateTenantSecret: ADMINS,
  deleteTenantSecret: ADMINS,
} as const satisfies Record<string, Need>;

/** An operation that a button or menu calls. */
export type Action = keyof typeof NEEDS;
