import { Controller, Query } from '@nestjs/common';
import { Allow } from '../../../platform/kernel/auth/access';
import type { Principal, TenantScope, WorkspaceScope } from '../../../platform/kernel/auth/principal';
import { CurrentPrincipal, CurrentScope, InWorkspace } from '../../../platform/http/auth/request-principal';
import { CLUSTER_MANAGERS } from '../../../platform/kernel/auth/roles';
import { Message } from '../../../platform/kernel/dto/response-fields';
import { Responses, Operation } from '../../../platform/http/operation';
import { type Page, PageQuery } from '../../../platform/kernel/dto/page';
import { IdParam } from '../../../platform/http/parameters';
import { ClusterWorkspacesService } from './cluster-workspaces.service';
import {
  ClusterWorkspaceRead,
  ClusterWorkspaceSearchQuery,
  ClusterWorkspaceWrite,
  WorkspaceClusterQuery,
  WorkspaceClusterSearchQuery,
} from './dto/cluster-workspace.dto';

const tag = 'Workspace access';
const manage = Allow.tenant(CLUSTER_MANAGERS);
const both = '/ac/workspace/{workspace_id}/cluster/{cluster_id}';
const ofWorkspace = '/ac/workspace/{workspace_id}/clusters';
const ofCluster = '/ac/cluster/{cluster_id}/workspaces';

@Controller()
export class ClusterWorkspacesController {
  constructor(private readonly associations: ClusterWorkspacesService) {}

  @Operation({
    method: 'POST',
    path: both,
    id: 'associateClusterWorkspace',
    summary: 'Associate a cluster with a workspace; a cluster with associations serves no other workspaces',
    description:
      'Lets jobs of the workspace use the cluster. A cluster without associations serves every workspace of the tenant; from its first one on, it serves only the associated ones. An association that exists is refused with 409.',
    tag,
    access: manage,
    response: Responses.one(ClusterWorkspaceWrite),
    errors: [409],
  })
  associate(
    @CurrentScope() scope: TenantScope,
    @IdParam('workspace_id') workspaceId: number,
    @IdParam('cluster_id') clusterId: number,
  ): Promise<ClusterWorkspaceWrite> {
    return this.associations.associate(scope, { workspace_id: workspaceId, cluster_id: clusterId });
  }

  @Operation({
    method: 'DELETE',
    path: both,
    id: 'dissociateClusterWorkspace',
    summary: 'Dissociate a cluster from a workspace; jobs that wait or run continue',
    description:
      'Ends the association. Jobs of the workspace that wait or run on the cluster continue, and new ones are refused with 409, unless it was the last association: then the cluster serves every workspace of the tenant again.',
    tag,
    access: manage,
    response: Responses.message,
    status: 201,
  })
  dissociate(
    @CurrentScope() scope: TenantScope,
    @IdParam('workspace_id') workspaceId: number,
    @IdParam('cluster_id') clusterId: number,
  ): Promise<Message> {
    return this.associations.dissociate(scope, { workspace_id: workspaceId, cluster_id: clusterId });
  }

  @Operation({
    method: 'GET',
    path: ofCluster,
    id: 'listClusterWorkspaces',
    summary: 'List the workspaces associated with a cluster, the newest association first',
    description:
      'Returns the workspaces that the cluster serves by association. The list is empty if it serves every workspace of the tenant.',
    tag,
    access: Allow.tenant(),
    response: Responses.page(ClusterWorkspaceRead),
  })
  listWorkspaces(
    @CurrentScope() scope: TenantScope,
    @CurrentPrincipal() principal: Principal,
    @IdParam('cluster_id') clusterId: number,
    @Query() query: PageQuery,
  ): Promise<Page<ClusterWorkspaceRead>> {
    return this.associations.ofCluster(scope, principal, clusterId, query);
  }

  @Operation({
    method: 'GET',
    path: `${ofCluster}/search`,
    id: 'searchClusterWorkspaces',
    summary: 'Search the workspaces associated with a cluster by part of the name',
    description: 'Returns the workspaces associated with the cluster whose name contains the text, ignoring case.',
    tag,
    access: Allow.tenant(),
    response: Responses.page(ClusterWorkspaceRead),
  })
  searchWorkspaces(
    @CurrentScope() scope: TenantScope,
    @CurrentPrincipal() principal: Principal,
    @IdParam('cluster_id') clusterId: number,
    @Query() query: ClusterWorkspaceSearchQuery,
  ): Promise<Page<ClusterWorkspaceRead>> {
    return this.associations.ofCluster(scope, principal, clusterId, query, query.workspace_name);
  }

  @Operation({
    method: 'GET',
    path: ofWorkspace,
    id: 'listWorkspaceClusters',
    summary: 'List the clusters associated with a workspace, the newest association first',
    description: 'Returns the clusters associated with the workspace that match the filters, each with its state.',
    tag,
    access: Allow.workspace('VIEW'),
    response: Responses.page(ClusterWorkspaceRead),
  })
  listClusters(
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: WorkspaceClusterQuery,
  ): Promise<Page<ClusterWorkspaceRead>> {
    return this.associations.ofWorkspace(scope, query);
  }

  @Operation({
    method: 'GET',
    path: `${ofWorkspace}/search`,
    id: 'searchWorkspaceClusters',
    summary: 'Search the clusters associated with a workspace by part of the name',
    description:
      'Returns the clusters associated with the workspace whose name contains the text, ignoring case. It has the same filters as the list.',
    tag,
    access: Allow.workspace('VIEW'),
    response: Responses.page(ClusterWorkspaceRead),
  })
  searchClusters(
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: WorkspaceClusterSearchQuery,
  ): Promise<Page<ClusterWorkspaceRead>> {
    return this.associations.ofWorkspace(scope, query);
  }
}
