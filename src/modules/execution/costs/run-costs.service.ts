import { Injectable } from '@nestjs/common';
import { Config } from '../../../config/config';
import type { WorkspaceScope } from '../../../platform/kernel/auth/principal';
import { notFound } from '../../../platform/kernel/errors/domain-error';
import { type PricedPeriod, pricedPeriods } from '../billing';
import { MIN_DRIVER_MB } from '../clusters';
import { costOf, unusedOf } from './pricing';
import { MAX_INTERVALS, type RunCost, type RunMemory, type UnusedMemory } from './dto/cost.dto';
import { type CostedRun, RunCostsRepository } from './run-costs.repository';

/** Memory that would have sufficed is rounded up to a multiple of this, MiB. */
const MEMORY_STEP_MB = 64;

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
      memory: memoryOf(run, unusedOf(sums, this.prices)),
      intervals: intervals.slice(0, MAX_INTERVALS),
      is_truncated: intervals.length > MAX_INTERVALS,
    };
  }
}

function memoryOf(
  { ended_at: endedAt, requested_memory_mb: requested, peak_memory_mb: peak }: CostedRun,
  unused: UnusedMemory,
): RunMemory | null {
  if (endedAt === null || requested === null || peak === null) return null;
  const sufficient = Math.max(MIN_DRIVER_MB, Math.ceil(peak / MEMORY_STEP_MB) * MEMORY_STEP_MB);
  return {
    requested_mb: requested,
    peak_mb: peak,
    unused_mb: Math.max(0, requested - peak),
    sufficient_mb: sufficient < requested ? sufficient : null,
    unused,
  };
}
