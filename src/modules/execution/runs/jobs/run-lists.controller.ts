import { Controller, Query } from '@nestjs/common';
import {
  CurrentPrincipal,
  CurrentScope,
  InWorkspace,
  WorkspaceIfNamed,
} from '../../../../platform/http/auth/request-principal';
import { IdParam } from '../../../../platform/http/parameters';
import { Operation, Responses } from '../../../../platform/http/operation';
import { Allow } from '../../../../platform/kernel/auth/access';
import {
  isTenantAdmin,
  type Principal,
  type TenantScope,
  type WorkspaceContext,
  type WorkspaceScope,
} from '../../../../platform/kernel/auth/principal';
import { RunList, RunListQuery } from './dto/run-list.dto';
import { RunTimeline } from './dto/run-timeline.dto';
import { RunListsService } from './run-lists.service';
import { RunTimelinesService } from './run-timelines.service';

@Controller()
export class RunListsController {
  constructor(
    private readonly lists: RunListsService,
    private readonly timelines: RunTimelinesService,
  ) {}

  @Operation({
    method: 'GET',
    path: '/runs',
    id: 'listRuns',
    summary: 'List the runs of all workspaces that you may view',
    description:
      'Returns jobs and notebook instances, functions and SQL servers included, of the named workspace, or of every workspace of the tenant that you may view; administrators may view all. For the next page, send `next` as `after` with the same filters; runs that are submitted meanwhile neither shift nor repeat others.',
    isExtension: true,
    tag: 'Jobs',
    access: Allow.workspaceIfNamed('VIEW'),
    response: Responses.one(RunList),
  })
  list(
    @CurrentScope() scope: TenantScope,
    @CurrentPrincipal() principal: Principal,
    @WorkspaceIfNamed() workspace: WorkspaceContext | null,
    @Query() query: RunListQuery,
  ): Promise<RunList> {
    const workspaceId = workspace?.workspaceId ?? null;
    return this.lists.list({ ...scope, everyone: isTenantAdmin(principal), workspaceId }, query);
  }

  @Operation({
    method: 'GET',
    path: '/workspace/{workspace_id}/run/{run_id}/timeline',
    id: 'getRunTimeline',
    summary: 'Get the timeline of a run: what it waited for, and every state of run, cluster and nodes',
    description:
      'Returns the phases of a job or a notebook instance from its submission to its end, and each state that the run, its cluster and the nodes of the cluster entered meanwhile, each with its author, reason and step. The stages of its Spark application have their times in the answer of `getJobMetrics`, at `stages_path`.',
    isExtension: true,
    tag: 'Jobs',
    access: Allow.workspace('VIEW'),
    response: Responses.one(RunTimeline),
  })
  timeline(@InWorkspace() scope: WorkspaceScope, @IdParam('run_id') runId: number): Promise<RunTimeline> {
    return this.timelines.timeline(scope, runId);
  }
}
