import { Module } from '@nestjs/common';
import { ReferenceDataModule } from '../../../foundation/reference-data/reference-data.module';
import { VolumeConfsModule } from '../volumes/volume-confs.module';
import { ClusterConfsRepository } from './cluster-confs.repository';
import { ClusterConfsService } from './cluster-confs.service';

@Module({
  imports: [ReferenceDataModule, VolumeConfsModule],
  providers: [ClusterConfsService, ClusterConfsRepository],
  exports: [ClusterConfsService],
})
export class ClusterConfsModule {}
