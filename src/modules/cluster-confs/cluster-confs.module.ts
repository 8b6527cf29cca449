import { Module } from '@nestjs/common';
import { ClusterUsageModule } from '../cluster-usage/cluster-usage.module';
import { ReferenceDataModule } from '../reference-data/reference-data.module';
import { VolumeConfsModule } from '../volume-confs/volume-confs.module';
import { ClusterConfsRepository } from './cluster-confs.repository';
import { ClusterConfsService } from './cluster-confs.service';

@Module({
  imports: [ReferenceDataModule, ClusterUsageModule, VolumeConfsModule],
  providers: [ClusterConfsService, ClusterConfsRepository],
  exports: [ClusterConfsService],
})
export class ClusterConfsModule {}
