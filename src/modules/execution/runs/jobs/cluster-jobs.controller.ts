import { Controller } from '@nestjs/common';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { CurrentScope } from '../../../../platform/http/auth/request-principal';
import { CLUSTER_MANAGERS } from '../../../../platform/kernel/auth/roles';
import { Responses, Operation } from '../../../../platform/http/operation';
import { IdParam } from '../../../../platform/http/parameters';
import { CosiKillAllJobsResult } from './dto/job.dto';
import { JobsService } from './jobs.service';

@Controller()
export class ClusterJobsController {
  constructor(private readonly jobs: JobsService) {}

  @Operation({
    method: 'POST',
    path: '/cluster/{cluster_id}/stop_all_jobs',
    id: 'stopAllClusterJobs',
    summary: 'Stop every job of a cluster that has been submitted',
    description:
      'Starts a workflow that stops every job and notebook instance of the cluster that is SUBMITTED or RUNNING, in all workspaces. It returns before they have ended.',
    tag: 'Clusters',
    access: Allow.tenant(CLUSTER_MANAGERS),
    response: Responses.one(CosiKillAllJobsResult),
  })
  stopAll(
    @CurrentScope() scope: TenantScope,
    @IdParam('cluster_id') clusterId: number,
  ): Promise<CosiKillAllJobsResult> {
    return this.jobs.stopAll(scope, clusterId);
  }
}
