import { Module } from '@nestjs/common';
import { BillingService } from './billing.service';
import { LedgerRepository } from './ledger.repository';
import { LedgerSubscriber } from './ledger.subscriber';
import { UsageRepository } from './usage.repository';

@Module({
  providers: [BillingService, LedgerRepository, LedgerSubscriber, UsageRepository],
  exports: [BillingService, LedgerRepository, UsageRepository],
})
export class BillingModule {}
