import { Module } from '@nestjs/common';
import { CloudEnvUsageModule } from '../cloud-envs/cloud-env-usage.module';
import { ReferenceDataModule } from '../reference-data/reference-data.module';
import { ClusterConfsRepository } from './cluster-confs.repository';
import { ClusterConfsService } from './cluster-confs.service';

@Module({
  imports: [ReferenceDataModule, CloudEnvUsageModule],
  providers: [ClusterConfsService, ClusterConfsRepository],
  exports: [ClusterConfsService],
})
export class ClusterConfsModule {}
