import { Body, Controller, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { OutputStream } from '../../../../../libs/contracts/agent-protocol';
import { LOG_STREAMS } from '../../../../../libs/object-storage/log-store';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { CurrentScope } from '../../../../platform/http/auth/request-principal';
import { CLUSTER_MANAGERS } from '../../../../platform/kernel/auth/roles';
import { Message } from '../../../../platform/kernel/dto/response-fields';
import { sendLog } from '../../../../platform/http/file-response';
import { Responses, Operation } from '../../../../platform/http/operation';
import type { Page } from '../../../../platform/kernel/dto/page';
import { IdParam, WordParam } from '../../../../platform/http/parameters';
import { ClusterDefinitionsService } from './cluster-definitions.service';
import { ClusterHistoriesService } from '../lifecycle/cluster-histories.service';
import { ClusterOperationsService } from '../lifecycle/cluster-operations.service';
import { ClusterRead, ClusterWrite } from './dto/cluster-responses.dto';
import {
  ClusterErrorRead,
  ClusterErrorsQuery,
  ClusterNodeStateEvent,
  ClusterNodeStatesQuery,
  ClusterPageQuery,
  ClusterStateEvent,
  NodeLogQuery,
} from '../lifecycle/dto/cluster-histories.dto';
import {
  ClusterListQuery,
  ClusterRefBody,
  ClusterSearchQuery,
  ClusterSelector,
  CreateCluster,
  DriverMemoryQuery,
  UpdateCluster,
} from './dto/cluster-input.dto';
import { CosiDestroyResult, CosiStartResult, CosiStopResult } from '../lifecycle/dto/cluster-operations.dto';

const tag = 'Clusters';
const read = Allow.tenant();
const manage = Allow.tenant(CLUSTER_MANAGERS);

@Controller()
export class ClustersController {
  constructor(
    private readonly definitions: ClusterDefinitionsService,
    private readonly operations: ClusterOperationsService,
    private readonly histories: ClusterHistoriesService,
  ) {}

  @Operation({
    method: 'GET',
    path: '/clusters',
    id: 'listClusters',
    summary: 'List clusters, newest first',
    tag,
    access: read,
    response: Responses.page(ClusterRead),
  })
  list(@CurrentScope() scope: TenantScope, @Query() query: ClusterListQuery): Promise<Page<ClusterRead>> {
    return this.definitions.list(scope, query);
  }

  @Operation({
    method: 'GET',
    path: '/clusters/search',
    id: 'searchClusters',
    summary: 'Search clusters by part of the name',
    tag,
    access: read,
    response: Responses.page(ClusterRead),
  })
  search(@CurrentScope() scope: TenantScope, @Query() query: ClusterSearchQuery): Promise<Page<ClusterRead>> {
    return this.definitions.list(scope, query);
  }

  @Operation({
    method: 'GET',
    path: '/cluster/driver_memory',
    id: 'calculateDriverMemory',
    summary: 'Driver memory of each parallel job',
    tag,
    access: read,
    response: Responses.message,
  })
  driverMemory(@Query() query: DriverMemoryQuery): Message {
    return this.definitions.driverMemory(query);
  }

  @Operation({
    method: 'POST',
    path: '/cluster',
    id: 'createCluster',
    summary: 'Create a cluster; it stays STOPPED until it is started',
    tag,
    access: manage,
    response: Responses.one(ClusterWrite),
    errors: [409],
  })
  create(@CurrentScope() scope: TenantScope, @Body() body: CreateCluster): Promise<ClusterWrite> {
    return this.definitions.create(scope, body);
  }

  @Operation({
    method: 'GET',
    path: '/cluster',
    id: 'getCluster',
    summary: 'Get a cluster by id or name',
    tag,
    access: read,
    response: Responses.one(ClusterRead),
  })
  get(@CurrentScope() scope: TenantScope, @Query() query: ClusterSelector): Promise<ClusterRead> {
    return this.definitions.get(scope, query.selector());
  }

  @Operation({
    method: 'PUT',
    path: '/cluster',
    id: 'updateCluster',
    summary: 'Update a cluster; most fields only in DESTROYED or ERROR',
    tag,
    access: manage,
    response: Responses.one(ClusterWrite),
    status: 201,
    errors: [409],
  })
  update(
    @CurrentScope() scope: TenantScope,
    @Query() query: ClusterSelector,
    @Body() body: UpdateCluster,
  ): Promise<ClusterWrite> {
    return this.definitions.update(scope, query.selector(), body);
  }

  @Operation({
    method: 'POST',
    path: '/cluster/start',
    id: 'startCluster',
    summary: 'Start a STOPPED cluster',
    tag,
    access: manage,
    response: Responses.one(CosiStartResult),
  })
  start(@CurrentScope() scope: TenantScope, @Body() body: ClusterRefBody): Promise<CosiStartResult> {
    return this.operations.start(scope, body.selector());
  }

  @Operation({
    method: 'POST',
    path: '/cluster/stop',
    id: 'stopCluster',
    summary: 'Stop a RUNNING cluster',
    tag,
    access: manage,
    response: Responses.one(CosiStopResult),
  })
  stop(@CurrentScope() scope: TenantScope, @Body() body: ClusterRefBody): Promise<CosiStopResult> {
    return this.operations.stop(scope, body.selector());
  }

  @Operation({
    method: 'POST',
    path: '/cluster/destroy',
    id: 'destroyCluster',
    summary: 'Destroy a cluster that is RUNNING, STOPPED or in ERROR',
    tag,
    access: manage,
    response: Responses.one(CosiDestroyResult),
  })
  destroy(@CurrentScope() scope: TenantScope, @Body() body: ClusterRefBody): Promise<CosiDestroyResult> {
    return this.operations.destroy(scope, body.selector());
  }

  @Operation({
    method: 'PUT',
    path: '/cluster/disable',
    id: 'disableCluster',
    summary: 'Disable a DESTROYED cluster',
    tag,
    access: manage,
    response: Responses.message,
    status: 201,
    errors: [409],
  })
  disable(@CurrentScope() scope: TenantScope, @Body() body: ClusterRefBody): Promise<Message> {
    return this.definitions.disable(scope, body.selector());
  }

  @Operation({
    method: 'PUT',
    path: '/cluster/enable',
    id: 'enableCluster',
    summary: 'Enable a disabled cluster; it is STOPPED again',
    tag,
    access: manage,
    response: Responses.one(ClusterWrite),
    status: 201,
    errors: [409],
  })
  enable(@CurrentScope() scope: TenantScope, @Body() body: ClusterRefBody): Promise<ClusterWrite> {
    return this.definitions.enable(scope, body.selector());
  }

  @Operation({
    method: 'GET',
    path: '/cluster/status',
    id: 'listClusterStates',
    summary: 'State history of a cluster, newest first',
    tag,
    access: read,
    response: Responses.page(ClusterStateEvent),
  })
  states(@CurrentScope() scope: TenantScope, @Query() query: ClusterPageQuery): Promise<Page<ClusterStateEvent>> {
    return this.histories.states(scope, query.selector(), query);
  }

  @Operation({
    method: 'GET',
    path: '/cluster/node/events',
    id: 'listClusterNodeStates',
    summary: 'State history of the nodes of a cluster, newest first',
    tag,
    access: read,
    response: Responses.page(ClusterNodeStateEvent),
  })
  nodeStates(
    @CurrentScope() scope: TenantScope,
    @Query() query: ClusterNodeStatesQuery,
  ): Promise<Page<ClusterNodeStateEvent>> {
    return this.histories.nodeStates(scope, query.selector(), query.node_number, query);
  }

  @Operation({
    method: 'GET',
    path: '/cluster/log/{log_type}',
    id: 'getClusterNodeLog',
    summary: 'Log of a node',
    tag,
    access: read,
    response: Responses.text,
  })
  async log(
    @CurrentScope() scope: TenantScope,
    @WordParam('log_type', LOG_STREAMS.node) logType: string,
    @Query() query: NodeLogQuery,
    @Res() response: Response,
  ): Promise<void> {
    await sendLog(response, await this.histories.nodeLog(scope, query, logType as OutputStream));
  }

  @Operation({
    method: 'GET',
    path: '/cluster/{cluster_id}/errors',
    id: 'listClusterErrors',
    summary: 'Errors of the workflow behind a node state',
    tag,
    access: read,
    response: Responses.page(ClusterErrorRead),
  })
  errors(
    @CurrentScope() scope: TenantScope,
    @IdParam('cluster_id') clusterId: number,
    @Query() query: ClusterErrorsQuery,
  ): Promise<Page<ClusterErrorRead>> {
    return this.histories.errors(scope, clusterId, query.node_status_id, query);
  }
}
