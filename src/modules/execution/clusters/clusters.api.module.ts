import { Module } from '@nestjs/common';
import { ClusterMetricsController } from './cluster-metrics.controller';
import { ClusterMountsController } from './cluster-mounts.controller';
import { ClustersController } from './clusters.controller';
import { ClustersModule } from './clusters.module';

@Module({
  imports: [ClustersModule],
  controllers: [ClustersController, ClusterMountsController, ClusterMetricsController],
})
export class ClustersApiModule {}
