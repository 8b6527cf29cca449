import { Module } from '@nestjs/common';
import { ClusterMetricsController } from './nodes/cluster-metrics.controller';
import { ClusterChecksController } from './definition/cluster-checks.controller';
import { ClusterMountsController } from './definition/cluster-mounts.controller';
import { ClustersController } from './definition/clusters.controller';
import { ClustersModule } from './clusters.module';

@Module({
  imports: [ClustersModule],
  controllers: [ClustersController, ClusterChecksController, ClusterMountsController, ClusterMetricsController],
})
export class ClustersApiModule {}
