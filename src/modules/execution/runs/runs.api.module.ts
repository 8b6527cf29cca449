import { Module } from '@nestjs/common';
import { ClustersModule } from '../clusters/clusters.module';
import { FunctionsController } from './functions/functions.controller';
import { FunctionsService } from './functions/functions.service';
import { ClusterJobsController } from './jobs/cluster-jobs.controller';
import { JobConfsController } from './jobs/job-confs.controller';
import { JobStatsController } from './jobs/job-stats.controller';
import { JobsController } from './jobs/jobs.controller';
import { RunListsController } from './jobs/run-lists.controller';
import { RunListsRepository } from './jobs/run-lists.repository';
import { RunListsService } from './jobs/run-lists.service';
import { RunTimelinesService } from './jobs/run-timelines.service';
import { RunsAgentsModule } from './runs.agents.module';
import { RunsModule } from './runs.module';
import { ResultPrefetchService } from './thrift-sql/result-prefetch.service';
import { ThriftSqlController } from './thrift-sql/thrift-sql.controller';
import { ThriftSqlService } from './thrift-sql/thrift-sql.service';

@Module({
  imports: [RunsModule, RunsAgentsModule, ClustersModule],
  providers: [
    FunctionsService,
    ThriftSqlService,
    ResultPrefetchService,
    RunListsRepository,
    RunListsService,
    RunTimelinesService,
  ],
  controllers: [
    FunctionsController,
    JobConfsController,
    JobsController,
    JobStatsController,
    RunListsController,
    ClusterJobsController,
    ThriftSqlController,
  ],
})
export class RunsApiModule {}
