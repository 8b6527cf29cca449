import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ReferenceDataModule } from '../../foundation/reference-data/reference-data.module';
import { StorageModule } from '../../infrastructure/storage/storage.module';
import { ClustersModule } from '../clusters/clusters.module';
import { UserSecretsModule } from '../user-secrets/user-secrets.module';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { FrameNotifications } from './channels/frame-notifications';
import { RequestNotifications } from './channels/request-notifications';
import { RunCallsService } from './channels/run-calls.service';
import { RunChannelsRepository } from './channels/run-channels.repository';
import { RunChannelsService } from './channels/run-channels.service';
import { ClusterChangesSubscriber } from './jobs/cluster-changes.subscriber';
import { RunConfigurationsRepository } from './jobs/run-configurations.repository';
import { RunConfigurationsService } from './jobs/run-configurations.service';
import { JobConfsService } from './jobs/job-confs.service';
import { RunMetricsService } from './jobs/run-metrics.service';
import { RunReportsService } from './jobs/run-reports.service';
import { RunScheduler } from './jobs/run-scheduler.service';
import { RunsRepository } from './jobs/runs.repository';
import { JobsService } from './jobs/jobs.service';
import { RunsService } from './jobs/runs.service';

@Module({
  imports: [DiscoveryModule, UserSecretsModule, ClustersModule, StorageModule, WorkspacesModule, ReferenceDataModule],
  providers: [
    RunChannelsService,
    RunCallsService,
    RunChannelsRepository,
    FrameNotifications,
    RequestNotifications,
    JobConfsService,
    RunConfigurationsRepository,
    RunConfigurationsService,
    JobsService,
    RunsService,
    RunsRepository,
    RunMetricsService,
    RunScheduler,
    RunReportsService,
    ClusterChangesSubscriber,
  ],
  exports: [
    RunChannelsService,
    RunCallsService,
    RunChannelsRepository,
    JobConfsService,
    RunConfigurationsService,
    JobsService,
    RunsService,
    RunMetricsService,
    RunReportsService,
    RunScheduler,
    RunsRepository,
  ],
})
export class RunsModule {}
