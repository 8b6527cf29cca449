import { Module } from '@nestjs/common';
import { ClustersModule } from '../clusters/clusters.module';
import { JobStatsController } from './job-stats.controller';
import { JobsController } from './jobs.controller';
import { JobsModule } from './jobs.module';

@Module({ imports: [JobsModule, ClustersModule], controllers: [JobsController, JobStatsController] })
export class JobsApiModule {}
