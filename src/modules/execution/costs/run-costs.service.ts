import { Injectable } from '@nestjs/common';
import { Config } from '../../../config/config';
import type { WorkspaceScope } from '../../../platform/kernel/auth/principal';
import { notFound } from '../../../platform/kernel/errors/domain-error';
import { type PricedPeriod, pricedPeriods } from '../billing';
import { costOf } from './pricing';
import { MAX_INTERVALS, type RunCost } from './dto/cost.dto';
import { RunCostsRepository } from './run-costs.repository';

/** Says what single runs cost, with the intervals that prove it. */
@Injectable()
export class RunCostsService {
  private readonly prices: readonly PricedPeriod[];

  constructor(
    private readonly repository: RunCostsRepository,
    config: Config,
  ) {
    this.prices = pricedPeriods(config.billing.unitPrices);
  }

  async cost(scope: WorkspaceScope, runId: number): Promise<RunCost> {
    const run = await this.repository.run(scope, runId);
    if (!run)
      throw notFound('JOB.NOT_FOUND', `There is no run with id ${runId} in the workspace "${scope.workspace.name}".`);
    const { intervals, ...sums } = await this.repository.cost(runId, this.prices);
    return {
      run_id: run.run_id,
      resource: run.resource,
      name: run.name,
      cluster_id: run.cluster_id,
      start_date: run.assigned_at,
      end_date: run.ended_at,
      cost: costOf(sums, this.prices),
      intervals: intervals.slice(0, MAX_INTERVALS),
      is_truncated: intervals.length > MAX_INTERVALS,
    };
  }
}
