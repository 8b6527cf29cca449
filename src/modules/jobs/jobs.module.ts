import { Module } from '@nestjs/common';
import { CatalogSecretsModule } from '../catalog-secrets/catalog-secrets.module';
import { ClustersModule } from '../clusters/clusters.module';
import { DependencyRepositoriesModule } from '../dependency-repositories/dependency-repositories.module';
import { LogsModule } from '../logs/logs.module';
import { MountsModule } from '../mounts/mounts.module';
import { ReferenceDataModule } from '../reference-data/reference-data.module';
import { ScopedSecretsModule } from '../scoped-secrets/scoped-secrets.module';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { ClusterChangesSubscriber } from './cluster-changes.subscriber';
import { ConfParts } from './confs-of-kind';
import { JobConfsRepository, NotebookConfsRepository } from './job-confs.repository';
import { JobConfsService } from './job-confs.service';
import { RunMetricsService } from './run-metrics.service';
import { RunReportsService } from './run-reports.service';
import { RunScheduler } from './run-scheduler.service';
import { RunParts } from './runs-of-kind';
import { NotebookRunsRepository, RunsRepository } from './runs.repository';
import { RunsService } from './runs.service';

@Module({
  imports: [
    CatalogSecretsModule,
    ClustersModule,
    MountsModule,
    WorkspacesModule,
    LogsModule,
    ReferenceDataModule,
    DependencyRepositoriesModule,
    ScopedSecretsModule,
  ],
  providers: [
    ConfParts,
    JobConfsService,
    JobConfsRepository,
    RunParts,
    RunsService,
    RunsRepository,
    NotebookRunsRepository,
    NotebookConfsRepository,
    RunMetricsService,
    RunScheduler,
    RunReportsService,
    ClusterChangesSubscriber,
  ],
  exports: [
    ConfParts,
    JobConfsService,
    JobConfsRepository,
    NotebookConfsRepository,
    RunParts,
    RunsService,
    NotebookRunsRepository,
    RunMetricsService,
    RunReportsService,
    RunScheduler,
    RunsRepository,
  ],
})
export class JobsModule {}
