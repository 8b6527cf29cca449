import { Module } from '@nestjs/common';
import { ClustersModule } from '../../clusters/clusters.module';
import { ClusterJobsController } from './cluster-jobs.controller';
import { JobConfsController } from './job-confs.controller';
import { JobStatsController } from './job-stats.controller';
import { JobsController } from './jobs.controller';
import { JobsModule } from './jobs.module';

@Module({
  imports: [JobsModule, ClustersModule],
  controllers: [JobConfsController, JobsController, JobStatsController, ClusterJobsController],
})
export class JobsApiModule {}
