import { Controller, Query } from '@nestjs/common';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { CurrentScope } from '../../../../platform/http/auth/request-principal';
import { Responses, Operation } from '../../../../platform/http/operation';
import { IdParam } from '../../../../platform/http/parameters';
import { ClusterMetricsService } from './cluster-metrics.service';
import { ClusterMetrics, ClusterMetricsQuery } from './dto/cluster-metrics.dto';

@Controller()
export class ClusterMetricsController {
  constructor(private readonly clusterMetrics: ClusterMetricsService) {}

  @Operation({
    method: 'GET',
    path: '/cluster/{cluster_id}/metrics',
    id: 'getClusterMetrics',
    summary: 'Get the used and free resources of the nodes of a cluster',
    description:
      'Returns used and free cores, memory, disk and slots of each node, which reports them two or three times a minute: the last hour in steps of a minute, or the last day in steps of 15 minutes. The current nodes come first, then former ones of the period. Nodes that share a machine share its disk.',
    isExtension: true,
    tag: 'Clusters',
    access: Allow.tenant(),
    response: Responses.one(ClusterMetrics),
  })
  metrics(
    @CurrentScope() scope: TenantScope,
    @IdParam('cluster_id') clusterId: number,
    @Query() query: ClusterMetricsQuery,
  ): Promise<ClusterMetrics> {
    return this.clusterMetrics.metrics(scope, clusterId, query);
  }
}
