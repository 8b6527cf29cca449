import { Module } from '@nestjs/common';
import { VolumeConfsController } from './volume-confs.controller';
import { VolumeConfsModule } from './volume-confs.module';

@Module({ imports: [VolumeConfsModule], controllers: [VolumeConfsController] })
export class VolumeConfsApiModule {}
