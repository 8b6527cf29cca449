import { Module } from '@nestjs/common';
import { ClusterUsageModule } from '../cluster-usage/cluster-usage.module';
import { RecordUsageModule } from '../record-usage/record-usage.module';
import { ReferenceDataModule } from '../reference-data/reference-data.module';
import { NetworkConfsRepository } from './network-confs.repository';
import { NetworkConfsService } from './network-confs.service';

@Module({
  imports: [ReferenceDataModule, RecordUsageModule, ClusterUsageModule],
  providers: [NetworkConfsService, NetworkConfsRepository],
  exports: [NetworkConfsService],
})
export class NetworkConfsModule {}
