import { Module } from '@nestjs/common';
import { BillingModule } from './billing.module';
import { UsageReconciler } from './background/usage-reconciler';

@Module({
  imports: [BillingModule],
  providers: [UsageReconciler],
})
export class BillingWorkerModule {}
