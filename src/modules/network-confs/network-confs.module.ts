import { Module } from '@nestjs/common';
import { CloudEnvUsageModule } from '../cloud-envs/cloud-env-usage.module';
import { ReferenceDataModule } from '../reference-data/reference-data.module';
import { NetworkConfsRepository } from './network-confs.repository';
import { NetworkConfsService } from './network-confs.service';

@Module({
  imports: [ReferenceDataModule, CloudEnvUsageModule],
  providers: [NetworkConfsService, NetworkConfsRepository],
  exports: [NetworkConfsService],
})
export class NetworkConfsModule {}
