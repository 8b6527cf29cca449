import { Module } from '@nestjs/common';
import { BootDiskImagesController } from './boot-disk-images.controller';
import { BootDiskImagesModule } from './boot-disk-images.module';

@Module({ imports: [BootDiskImagesModule], controllers: [BootDiskImagesController] })
export class BootDiskImagesApiModule {}
