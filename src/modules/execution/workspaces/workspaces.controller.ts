import { Body, Controller, Query } from '@nestjs/common';
import { Allow } from '../../../platform/kernel/auth/access';
import type { Principal, TenantScope, WorkspaceScope } from '../../../platform/kernel/auth/principal';
import { CurrentPrincipal, CurrentScope, InWorkspace } from '../../../platform/http/auth/request-principal';
import { EVERY_TENANT_ROLE } from '../../../platform/kernel/auth/roles';
import { Responses, Operation } from '../../../platform/http/operation';
import type { Page } from '../../../platform/kernel/dto/page';
import {
  CreateWorkspace,
  UpdateWorkspace,
  WorkspaceListQuery,
  WorkspaceRead,
  WorkspaceSearchQuery,
  WorkspaceSelector,
  WorkspaceWrite,
} from './dto/workspace.dto';
import { WorkspacesService } from './workspaces.service';

const tag = 'Workspaces';

@Controller()
export class WorkspacesController {
  constructor(private readonly workspaces: WorkspacesService) {}

  @Operation({
    method: 'GET',
    path: '/workspaces',
    id: 'listWorkspaces',
    summary: 'List the workspaces that you may view',
    description:
      'Returns the workspaces of the tenant on which you hold a permission, directly or through a group; ADMIN and PLATFORM ADMIN see all.',
    tag,
    access: Allow.tenant(),
    response: Responses.page(WorkspaceRead),
  })
  list(
    @CurrentScope() scope: TenantScope,
    @CurrentPrincipal() principal: Principal,
    @Query() query: WorkspaceListQuery,
  ): Promise<Page<WorkspaceRead>> {
    return this.workspaces.list(scope, principal, query);
  }

  @Operation({
    method: 'GET',
    path: '/workspaces/search',
    id: 'searchWorkspaces',
    summary: 'Search the workspaces by part of the name',
    description: 'Returns the workspaces that you may view and whose name contains the text, ignoring case.',
    tag,
    access: Allow.tenant(),
    response: Responses.page(WorkspaceRead),
  })
  search(
    @CurrentScope() scope: TenantScope,
    @CurrentPrincipal() principal: Principal,
    @Query() query: WorkspaceSearchQuery,
  ): Promise<Page<WorkspaceRead>> {
    return this.workspaces.list(scope, principal, query);
  }

  @Operation({
    method: 'POST',
    path: '/workspace',
    id: 'createWorkspace',
    summary: 'Create a workspace; its creator gets MANAGE',
    description:
      'Creates an empty workspace in the selected tenant, on which you hold MANAGE. A name that is already in use in the tenant is refused with 409.',
    tag,
    access: Allow.tenant(EVERY_TENANT_ROLE),
    response: Responses.one(WorkspaceWrite),
    errors: [409],
  })
  create(@CurrentScope() scope: TenantScope, @Body() body: CreateWorkspace): Promise<WorkspaceWrite> {
    return this.workspaces.create(scope, body);
  }

  @Operation({
    method: 'GET',
    path: '/workspace',
    id: 'getWorkspace',
    summary: 'Get a workspace by id or name',
    description:
      'Returns one workspace, enabled or disabled. If both id and name are sent, they must identify the same record.',
    tag,
    access: Allow.workspace('VIEW'),
    response: Responses.one(WorkspaceRead),
  })
  get(@InWorkspace() scope: WorkspaceScope, @Query() _selector: WorkspaceSelector): Promise<WorkspaceRead> {
    return this.workspaces.get(scope);
  }

  @Operation({
    method: 'PUT',
    path: '/workspace',
    id: 'updateWorkspace',
    summary: 'Update a workspace',
    description: 'Changes name and description, at least one; the other keeps its value.',
    tag,
    access: Allow.workspace('EDIT'),
    response: Responses.one(WorkspaceWrite),
    status: 201,
    errors: [409],
  })
  update(
    @InWorkspace() scope: WorkspaceScope,
    @Query() _selector: WorkspaceSelector,
    @Body() body: UpdateWorkspace,
  ): Promise<WorkspaceWrite> {
    return this.workspaces.update(scope, body);
  }

  @Operation({
    method: 'PUT',
    path: '/workspace/enable',
    id: 'enableWorkspace',
    summary: 'Enable a workspace',
    description:
      'Jobs, files and runs can be added to the workspace and changed again. One that is already enabled is refused with 409.',
    tag,
    access: Allow.workspace('EDIT'),
    response: Responses.one(WorkspaceWrite),
    status: 201,
    errors: [409],
  })
  enable(@InWorkspace() scope: WorkspaceScope, @Query() _selector: WorkspaceSelector): Promise<WorkspaceWrite> {
    return this.workspaces.enable(scope);
  }

  @Operation({
    method: 'PUT',
    path: '/workspace/disable',
    id: 'disableWorkspace',
    summary: 'Disable a workspace: it takes no new or changed jobs, files or runs',
    description:
      'Freezes the workspace: new or changed jobs, notebooks, files and runs are refused with 409. Its to_date is set; runs that were submitted continue. One that is already disabled is refused with 409.',
    tag,
    access: Allow.workspace('EDIT'),
    response: Responses.one(WorkspaceWrite),
    status: 201,
    errors: [409],
  })
  disable(@InWorkspace() scope: WorkspaceScope, @Query() _selector: WorkspaceSelector): Promise<WorkspaceWrite> {
    return this.workspaces.disable(scope);
  }
}
