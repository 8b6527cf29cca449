import { Module } from '@nestjs/common';
import { CloudEnvUsageModule } from '../cloud-envs/cloud-env-usage.module';
import { ReferenceDataModule } from '../reference-data/reference-data.module';
import { BootDiskImagesRepository } from './boot-disk-images.repository';
import { BootDiskImagesService } from './boot-disk-images.service';

@Module({
  imports: [ReferenceDataModule, CloudEnvUsageModule],
  providers: [BootDiskImagesService, BootDiskImagesRepository],
  exports: [BootDiskImagesService],
})
export class BootDiskImagesModule {}
