import { Module } from '@nestjs/common';
import { ClusterMountsController } from './cluster-mounts.controller';
import { ClustersController } from './clusters.controller';
import { ClustersModule } from './clusters.module';

@Module({ imports: [ClustersModule], controllers: [ClustersController, ClusterMountsController] })
export class ClustersApiModule {}
