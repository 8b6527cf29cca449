import { Module } from '@nestjs/common';
import { ClusterMetricsController } from './nodes/cluster-metrics.controller';
import { ClusterMountsController } from './definition/cluster-mounts.controller';
import { ClustersController } from './definition/clusters.controller';
import { ClustersModule } from './clusters.module';

@Module({
  imports: [ClustersModule],
  controllers: [ClustersController, ClusterMountsController, ClusterMetricsController],
})
export class ClustersApiModule {}
