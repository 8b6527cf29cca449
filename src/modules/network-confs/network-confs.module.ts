import { Module } from '@nestjs/common';
import { RecordUsageModule } from '../record-usage/record-usage.module';
import { ReferenceDataModule } from '../reference-data/reference-data.module';
import { NetworkConfsRepository } from './network-confs.repository';
import { NetworkConfsService } from './network-confs.service';

@Module({
  imports: [ReferenceDataModule, RecordUsageModule],
  providers: [NetworkConfsService, NetworkConfsRepository],
  exports: [NetworkConfsService],
})
export class NetworkConfsModule {}
