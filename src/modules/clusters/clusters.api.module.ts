import { Module } from '@nestjs/common';
import { ClustersController } from './clusters.controller';
import { ClustersModule } from './clusters.module';

@Module({ imports: [ClustersModule], controllers: [ClustersController] })
export class ClustersApiModule {}
