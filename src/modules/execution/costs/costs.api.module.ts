import { Module } from '@nestjs/common';
import { BillingModule } from '../billing/billing.module';
import { CostIntervalsRepository } from './cost-intervals.repository';
import { CostIntervalsService } from './cost-intervals.service';
import { CostReportsRepository } from './cost-reports.repository';
import { CostReportsService } from './cost-reports.service';
import { CostsController } from './costs.controller';
import { RunCostsRepository } from './run-costs.repository';
import { RunCostsService } from './run-costs.service';

@Module({
  imports: [BillingModule],
  providers: [
    CostIntervalsRepository,
    CostIntervalsService,
    CostReportsRepository,
    CostReportsService,
    RunCostsRepository,
    RunCostsService,
  ],
  controllers: [CostsController],
})
export class CostsApiModule {}
