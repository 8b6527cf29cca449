import { Module } from '@nestjs/common';
import { ClusterUsageModule } from '../cluster-usage/cluster-usage.module';
import { RecordUsageModule } from '../record-usage/record-usage.module';
import { ReferenceDataModule } from '../reference-data/reference-data.module';
import { BootDiskImagesRepository } from './boot-disk-images.repository';
import { BootDiskImagesService } from './boot-disk-images.service';

@Module({
  imports: [ReferenceDataModule, RecordUsageModule, ClusterUsageModule],
  providers: [BootDiskImagesService, BootDiskImagesRepository],
  exports: [BootDiskImagesService],
})
export class BootDiskImagesModule {}
