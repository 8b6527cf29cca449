import { Module } from '@nestjs/common';
import { ReferenceDataModule } from '../../../foundation/reference-data/reference-data.module';
import { VolumeConfsRepository } from './volume-confs.repository';
import { VolumeConfsService } from './volume-confs.service';

@Module({
  imports: [ReferenceDataModule],
  providers: [VolumeConfsService, VolumeConfsRepository],
  exports: [VolumeConfsService],
})
export class VolumeConfsModule {}
