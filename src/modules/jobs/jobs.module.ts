import { Module } from '@nestjs/common';
import { ClustersModule } from '../clusters/clusters.module';
import { LogsModule } from '../logs/logs.module';
import { MountsModule } from '../mounts/mounts.module';
import { ReferenceDataModule } from '../reference-data/reference-data.module';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { ClusterChangesSubscriber } from './cluster-changes.subscriber';
import { JobConfsRepository } from './job-confs.repository';
import { JobConfsService } from './job-confs.service';
import { RunReportsService } from './run-reports.service';
import { RunScheduler } from './run-scheduler.service';
import { RunsRepository } from './runs.repository';
import { RunsService } from './runs.service';

@Module({
  imports: [ClustersModule, MountsModule, WorkspacesModule, LogsModule, ReferenceDataModule],
  providers: [
    JobConfsService,
    JobConfsRepository,
    RunsService,
    RunsRepository,
    RunScheduler,
    RunReportsService,
    ClusterChangesSubscriber,
  ],
  exports: [JobConfsService, JobConfsRepository, RunsService, RunReportsService, RunScheduler, RunsRepository],
})
export class JobsModule {}
