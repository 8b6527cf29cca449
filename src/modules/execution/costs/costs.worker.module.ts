import { Module } from '@nestjs/common';
import { RunCostReconciler } from './background/run-cost-reconciler';
import { RunSharesRepository } from './run-shares.repository';

@Module({
  providers: [RunCostReconciler, RunSharesRepository],
})
export class CostsWorkerModule {}
