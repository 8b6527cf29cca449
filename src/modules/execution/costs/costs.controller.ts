import { Controller } from '@nestjs/common';
import { InWorkspace } from '../../../platform/http/auth/request-principal';
import { Operation, Responses } from '../../../platform/http/operation';
import { IdParam } from '../../../platform/http/parameters';
import { Allow } from '../../../platform/kernel/auth/access';
import type { WorkspaceScope } from '../../../platform/kernel/auth/principal';
import { RunCost } from './dto/cost.dto';
import { RunCostsService } from './run-costs.service';

@Controller()
export class CostsController {
  constructor(private readonly runs: RunCostsService) {}

  @Operation({
    method: 'GET',
    path: '/workspace/{workspace_id}/run/{run_id}/cost',
    id: 'getRunCost',
    summary: 'Get what a run costs, with the intervals that prove it',
    description:
      'An extension of this platform. Returns the share that a job or a notebook instance has of the RUNNING time of its nodes: from when it got its slot until its end, or until now, its node divided by the number of runs that the node holds at once. A run on the master of a CLUSTER has the same part of each worker. What no run holds is idle, and no share of any run.',
    tag: 'Costs',
    access: Allow.workspace('VIEW'),
    response: Responses.one(RunCost),
  })
  runCost(@InWorkspace() scope: WorkspaceScope, @IdParam('run_id') runId: number): Promise<RunCost> {
    return this.runs.cost(scope, runId);
  }
}
