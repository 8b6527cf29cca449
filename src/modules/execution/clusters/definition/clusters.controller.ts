import { Body, Controller, Headers, Query, Res } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import type { Response } from 'express';
import type { OutputStream } from '../../../../../libs/contracts/agent-protocol';
import { LOG_STREAMS } from '../../../../../libs/object-storage/log-store';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { CurrentScope } from '../../../../platform/http/auth/request-principal';
import { CLUSTER_MANAGERS } from '../../../../platform/kernel/auth/roles';
import { Message } from '../../../../platform/kernel/dto/response-fields';
import { LOG_RANGE, rangeOf } from '../../../../platform/http/byte-range';
import { sendLog } from '../../../../platform/http/file-response';
import { Responses, Operation } from '../../../../platform/http/operation';
import type { Page } from '../../../../platform/kernel/dto/page';
import { IdParam, WordParam } from '../../../../platform/http/parameters';
import { ClusterDefinitionsService } from './cluster-definitions.service';
import { ClusterHistoriesService } from '../lifecycle/cluster-histories.service';
import { ClusterOperationsService } from '../lifecycle/cluster-operations.service';
import { ClusterResizesService } from './cluster-resizes.service';
import { ClusterResize, ResizeCluster } from './dto/cluster-resize.dto';
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
    private readonly resizes: ClusterResizesService,
  ) {}

  @Operation({
    method: 'GET',
    path: '/clusters',
    id: 'listClusters',
    summary: 'List clusters, newest first',
    description:
      'Returns the clusters of the tenant with their current state and nodes, newest first. A cluster must match every filter that is sent.',
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
    description:
      'Returns the clusters of the tenant whose name contains the text, ignoring case, newest first. It has the same filters as the list.',
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
    summary: 'Calculate the driver memory of each parallel job',
    description:
      'Returns a sentence that says how much memory the driver of each job gets on a machine that runs that many at a time. It is refused with 400 if a job would get less than a driver needs.',
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
    description:
      'Stores the cluster. It stays STOPPED, without machines and costs, until `startCluster` or a job starts it. All parts must exist, belong to one provider and one architecture, and fit the Spark version. A name that is already in use in the tenant is refused with 409.',
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
    description:
      'Returns one cluster, enabled or disabled, with its current state, its nodes and its configuration. Poll it to wait until `cluster_status` is RUNNING.',
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
    description:
      'Changes the fields that are sent. name, description, idle_timeout_ms, clean_up_timeout and spark_config can change in every state, everything else only in DESTROYED or ERROR, else it is refused with 409. The type never changes. What machines are created with takes effect for new nodes.',
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
    description:
      'Starts a workflow that creates or starts the machines. The cluster must be STOPPED and enabled. It becomes INITIATING, then RUNNING once the nodes are ready, or ERROR with the reason in `listClusterStates`. The response does not wait for that.',
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
    description:
      'Starts a workflow that ends the running jobs and stops the machines, which keep their disks unless `stop_destroys_nodes` is true. The cluster must be RUNNING. It becomes STOPPING, then STOPPED, from which it can be started again.',
    tag,
    access: manage,
    response: Responses.one(CosiStopResult),
  })
  stop(@CurrentScope() scope: TenantScope, @Body() body: ClusterRefBody): Promise<CosiStopResult> {
    return this.operations.stop(scope, body.selector());
  }

  @Operation({
    method: 'POST',
    path: '/cluster/resize',
    id: 'resizeCluster',
    summary: 'Change the number of nodes of a RUNNING cluster',
    description:
      'Changes the minimum, the maximum or both while the cluster runs or is being resized. Nodes are added at once, up to the minimum. Nodes above the maximum get no new jobs: idle ones are removed at once, busy ones when their jobs have ended. Workers of a CLUSTER hand over their data and are removed within ten minutes. The response does not wait for that. In every other state it is refused with 409 and what to do instead.',
    isExtension: true,
    tag,
    access: manage,
    response: Responses.one(ClusterResize),
    errors: [409],
  })
  resize(@CurrentScope() scope: TenantScope, @Body() body: ResizeCluster): Promise<ClusterResize> {
    return this.resizes.resize(scope, body);
  }

  @Operation({
    method: 'POST',
    path: '/cluster/destroy',
    id: 'destroyCluster',
    summary: 'Destroy a cluster that is RUNNING, STOPPED or in ERROR',
    description:
      'Starts a workflow that removes the machines and their disks. The cluster must be RUNNING, STOPPED or in ERROR. It becomes DESTROYING, then DESTROYED. Its record, its histories and the logs of its jobs stay. To use it again, disable it and enable it.',
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
    description:
      'The cluster can no longer be started, its name can be used again, and its to_date is set. `enableCluster` undoes it.',
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
    description:
      'Returns a disabled cluster to STOPPED, without machines. All its parts must still exist and fit together, else it is refused. One that is already enabled is refused with 409.',
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
    summary: 'List the states of a cluster, newest first',
    description:
      'Returns every state that the cluster has had, with its reason and who caused it, newest first. The current state has the end_time `infinity`.',
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
    summary: 'List the states of the nodes of a cluster, newest first',
    description:
      'Returns every state that the nodes of the cluster have had, newest first. The ids of these states select the log and the errors of a node.',
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
    summary: 'Get a log of a node',
    description:
      'Sends the output of the agent, of Spark daemons and of the bootstrap script of a node as text, `stdout` or `stderr`. Without a part, the whole log is sent. A node that has written nothing has an empty log and not a 404. The header `x-log-offset` says where a later request continues. A header `Range: bytes=` with one part is answered with 206 and that part, and with 416 if the log ends before it.',
    tag,
    access: read,
    response: Responses.text,
    headers: LOG_RANGE,
  })
  async log(
    @CurrentScope() scope: TenantScope,
    @WordParam('log_type', LOG_STREAMS.node, 'Which output is sent') logType: string,
    @Query() query: NodeLogQuery,
    @Headers() headers: IncomingHttpHeaders,
    @Res() response: Response,
  ): Promise<void> {
    const part = { stream: logType as OutputStream, range: rangeOf(headers) };
    await sendLog(response, await this.histories.nodeLog(scope, query, part));
  }

  @Operation({
    method: 'GET',
    path: '/cluster/{cluster_id}/errors',
    id: 'listClusterErrors',
    summary: 'List the errors of the workflow behind a node state',
    description:
      'Returns the errors of the workflow during which the node entered the state; if an error has a message about this node, that message is shown. The list is empty if there was no workflow or no error.',
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
