import { Module } from '@nestjs/common';
import { ReferenceDataModule } from '../../../foundation/reference-data/reference-data.module';
import { BootDiskImagesRepository } from './boot-disk-images.repository';
import { BootDiskImagesService } from './boot-disk-images.service';

@Module({
  imports: [ReferenceDataModule],
  providers: [BootDiskImagesService, BootDiskImagesRepository],
  exports: [BootDiskImagesService],
})
export class BootDiskImagesModule {}
