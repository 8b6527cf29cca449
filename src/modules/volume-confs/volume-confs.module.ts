import { Module } from '@nestjs/common';
import { ClusterUsageModule } from '../cluster-usage/cluster-usage.module';
import { ReferenceDataModule } from '../reference-data/reference-data.module';
import { VolumeConfsRepository } from './volume-confs.repository';
import { VolumeConfsService } from './volume-confs.service';

@Module({
  imports: [ReferenceDataModule, ClusterUsageModule],
  providers: [VolumeConfsService, VolumeConfsRepository],
  exports: [VolumeConfsService],
})
export class VolumeConfsModule {}
