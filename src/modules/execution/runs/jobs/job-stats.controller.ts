import { Controller, Query } from '@nestjs/common';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { TenantScope, WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { CurrentScope, InWorkspace } from '../../../../platform/http/auth/request-principal';
import { Responses, Operation } from '../../../../platform/http/operation';
import { RecordSelectorQuery } from '../../../../platform/kernel/dto/selector';
import { ClusterDefinitionsService } from '../../clusters';
import { JobStats } from './dto/job.dto';
import { JobsService } from './jobs.service';

class ClusterStatsQuery extends RecordSelectorQuery('cluster') {}
class WorkspaceStatsQuery extends RecordSelectorQuery('workspace') {}

@Controller()
export class JobStatsController {
  constructor(
    private readonly jobs: JobsService,
    private readonly clusters: ClusterDefinitionsService,
  ) {}

  @Operation({
    method: 'GET',
    path: '/cluster/stats',
    id: 'getClusterJobStats',
    summary: 'Count the jobs of a cluster by status',
    description: 'Counts all jobs and notebook instances that the cluster has had, by status.',
    tag: 'Clusters',
    access: Allow.tenant(),
    response: Responses.one(JobStats),
  })
  async ofCluster(@CurrentScope() scope: TenantScope, @Query() query: ClusterStatsQuery): Promise<JobStats> {
    return this.jobs.stats(scope, 'cluster_id', await this.clusters.idOf(scope, query.selector()));
  }

  @Operation({
    method: 'GET',
    path: '/workspace/stats',
    id: 'getWorkspaceStats',
    summary: 'Count the jobs of a workspace by status',
    description: 'Counts all jobs and notebook instances of the workspace by status.',
    tag: 'Workspaces',
    access: Allow.workspace('VIEW'),
    response: Responses.one(JobStats),
  })
  ofWorkspace(@InWorkspace() scope: WorkspaceScope, @Query() _query: WorkspaceStatsQuery): Promise<JobStats> {
    return this.jobs.stats(scope, 'workspace_id', scope.workspace.workspaceId);
  }
}
