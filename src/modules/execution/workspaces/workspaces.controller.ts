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
    summary: 'List the workspaces that you may see',
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
