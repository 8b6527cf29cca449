import { Controller } from '@nestjs/common';
import { Allow } from '../../../platform/kernel/auth/access';
import { Responses, Operation } from '../../../platform/http/operation';
import { IdParam } from '../../../platform/http/parameters';
import { GroupRead, UserRead } from '../../foundation/iam';
import {
  AssignGroupPermission,
  AssignUserPermission,
  WorkspaceGroupAccessSearchQuery,
  WorkspaceGroupPermissionRead,
  WorkspaceGroupPermissionWrite,
  WorkspaceGroupQuery,
  WorkspaceGroupSearchQuery,
  WorkspaceGroupsPage,
  WorkspacePermissionRead,
  WorkspaceUserAccessSearchQuery,
  WorkspaceUserPermissionRead,
  WorkspaceUserPermissionWrite,
  WorkspaceUserQuery,
  WorkspaceUserSearchQuery,
  WorkspaceUsersPage,
} from './dto/workspace-access.dto';
import { WorkspaceAccessService } from './workspace-access.service';
import { WorkspaceHoldersController } from './workspace-holders.controller';

const tag = 'Workspace access';

@Controller()
export class WorkspacePermissionsController {
  constructor(private readonly access: WorkspaceAccessService) {}

  @Operation({
    method: 'GET',
    path: '/workspace/permissions',
    id: 'listWorkspacePermissions',
    summary: 'List the permissions on workspaces, each of which includes those before it',
    description:
      'Returns VIEW, RUN, EDIT and MANAGE: to see jobs, notebooks, files and logs; to run and stop them; to change them; to assign permissions.',
    tag,
    access: Allow.signedIn,
    response: Responses.list(WorkspacePermissionRead),
  })
  list(): Promise<WorkspacePermissionRead[]> {
    return this.access.permissions();
  }

  @Operation({
    method: 'GET',
    path: '/workspace/permission/{permission_id}',
    id: 'getWorkspacePermission',
    summary: 'Get a permission on workspaces',
    description: 'Returns one permission by its id.',
    tag,
    access: Allow.signedIn,
    response: Responses.one(WorkspacePermissionRead),
  })
  get(@IdParam('permission_id') permissionId: number): Promise<WorkspacePermissionRead> {
    return this.access.permission(permissionId);
  }
}

@Controller()
export class WorkspaceUsersController extends WorkspaceHoldersController({
  kind: 'user',
  queries: {
    list: WorkspaceUserQuery,
    search: WorkspaceUserSearchQuery,
    accessSearch: WorkspaceUserAccessSearchQuery,
    assignment: AssignUserPermission,
  },
  responses: {
    list: Responses.one(WorkspaceUsersPage),
    match: Responses.one(UserRead),
    held: Responses.one(WorkspaceUserPermissionRead),
    assigned: Responses.one(WorkspaceUserPermissionWrite),
  },
  list: (access, workspace, page, filter) => access.users(workspace, page, filter),
  match: (access, workspace, name) => access.matchUser(workspace, name),
  held: (access, scope, id) => access.userPermission(scope, id),
  assign: (access, scope, body) => access.assignToUser(scope, body),
}) {
  constructor(access: WorkspaceAccessService) {
    super(access);
  }
}

@Controller()
export class WorkspaceGroupsController extends WorkspaceHoldersController({
  kind: 'group',
  queries: {
    list: WorkspaceGroupQuery,
    search: WorkspaceGroupSearchQuery,
    accessSearch: WorkspaceGroupAccessSearchQuery,
    assignment: AssignGroupPermission,
  },
  responses: {
    list: Responses.one(WorkspaceGroupsPage),
    match: Responses.list(GroupRead),
    held: Responses.one(WorkspaceGroupPermissionRead),
    assigned: Responses.one(WorkspaceGroupPermissionWrite),
  },
  list: (access, workspace, page, filter) => access.groups(workspace, page, filter),
  match: (access, workspace, name) => access.matchGroup(workspace, name),
  held: (access, scope, id) => access.groupPermission(scope, id),
  assign: (access, scope, body) => access.assignToGroup(scope, body),
}) {
  constructor(access: WorkspaceAccessService) {
    super(access);
  }
}
