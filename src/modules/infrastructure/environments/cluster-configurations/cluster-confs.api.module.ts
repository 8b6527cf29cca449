import { Module } from '@nestjs/common';
import { ClusterConfsController } from './cluster-confs.controller';
import { ClusterConfsModule } from './cluster-confs.module';

@Module({ imports: [ClusterConfsModule], controllers: [ClusterConfsController] })
export class ClusterConfsApiModule {}
