import { Controller, Query } from '@nestjs/common';
import {
  CurrentPrincipal,
  CurrentScope,
  InWorkspace,
  WorkspaceIfNamed,
} from '../../../platform/http/auth/request-principal';
import { Operation, Responses } from '../../../platform/http/operation';
import { IdParam } from '../../../platform/http/parameters';
import { Allow } from '../../../platform/kernel/auth/access';
import { ADMINS } from '../../../platform/kernel/auth/roles';
import {
  isTenantAdmin,
  type Principal,
  type TenantScope,
  type WorkspaceContext,
  type WorkspaceScope,
} from '../../../platform/kernel/auth/principal';
import { CostIntervalsService } from './cost-intervals.service';
import { CostReportsService } from './cost-reports.service';
import { RunCost } from './dto/cost.dto';
import { CostIntervals, CostIntervalsQuery } from './dto/cost-intervals.dto';
import { CostQuery, CostReport } from './dto/cost-report.dto';
import { RunCostsService } from './run-costs.service';

@Controller()
export class CostsController {
  constructor(
    private readonly runs: RunCostsService,
    private readonly reports: CostReportsService,
    private readonly intervals: CostIntervalsService,
  ) {}

  @Operation({
    method: 'GET',
    path: '/costs',
    id: 'listCosts',
    summary: 'List what runs and nodes cost, by day, workspace, cluster, user or run',
    description:
      'Returns the shares of runs in the named workspace, or in every workspace of the tenant that you may view, between two days (UTC) that are both included. Administrators also see the time of nodes that no run held, by day and by cluster, and that all of it adds up to what the tenant is billed for. Of what runs cost, each line says which part was for memory that they requested and did not use, as far as it was measured. Nodes and runs that have not ended count until `as_of`. For the next page, send `next` as `after` with the same filters.',
    isExtension: true,
    tag: 'Costs',
    access: Allow.workspaceIfNamed('VIEW'),
    response: Responses.one(CostReport),
  })
  report(
    @CurrentScope() scope: TenantScope,
    @CurrentPrincipal() principal: Principal,
    @WorkspaceIfNamed() workspace: WorkspaceContext | null,
    @Query() query: CostQuery,
  ): Promise<CostReport> {
    const everyone = isTenantAdmin(principal);
    const workspaceId = workspace?.workspaceId ?? null;
    const { cluster_ids: clusterIds = null, created_by_ids: createdByIds = null } = query;
    return this.reports.report({ ...scope, everyone, workspaceId, clusterIds, createdByIds }, query);
  }

  @Operation({
    method: 'GET',
    path: '/costs/intervals',
    id: 'listCostIntervals',
    summary: 'List the intervals of the ledger that add up to what the nodes of a tenant cost',
    description:
      'Returns the stays of nodes in RUNNING between two days (UTC) that are both included, those that began last first. A stay that begins before the period or ends after it counts only within it, and one of a node that is RUNNING until `as_of`. All of them add up to `total`, which is what `GET /costs` says for `nodes`. For the next page, send `next` as `after` with the same filters.',
    isExtension: true,
    tag: 'Costs',
    access: Allow.tenant(ADMINS),
    response: Responses.one(CostIntervals),
  })
  listIntervals(@CurrentScope() scope: TenantScope, @Query() query: CostIntervalsQuery): Promise<CostIntervals> {
    return this.intervals.list(scope, query);
  }

  @Operation({
    method: 'GET',
    path: '/workspace/{workspace_id}/run/{run_id}/cost',
    id: 'getRunCost',
    summary: 'Get the cost of a run, with the intervals that it is computed from',
    description:
      'Returns the share that a job or a notebook instance has of the RUNNING time of its node: the time from when it got its slot until its end, or until now, divided by the number of runs that the node holds at once. A run on the master of a CLUSTER also has the same share of each worker. Time that no run holds is idle and belongs to no run.',
    isExtension: true,
    tag: 'Costs',
    access: Allow.workspace('VIEW'),
    response: Responses.one(RunCost),
  })
  runCost(@InWorkspace() scope: WorkspaceScope, @IdParam('run_id') runId: number): Promise<RunCost> {
    return this.runs.cost(scope, runId);
  }
}
