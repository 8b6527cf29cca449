import { Module } from '@nestjs/common';
import { CatalogSecretsModule } from '../../user-secrets/catalog-secrets/catalog-secrets.module';
import { ClustersModule } from '../../clusters/clusters.module';
import { DependencyRepositoriesModule } from '../../../infrastructure/storage/dependency-repositories/dependency-repositories.module';
import { LogsModule } from '../../../infrastructure/storage/logs/logs.module';
import { MountsModule } from '../../../infrastructure/storage/mounts/mounts.module';
import { ReferenceDataModule } from '../../../foundation/reference-data/reference-data.module';
import { ScopedSecretsModule } from '../../user-secrets/scoped-secrets/scoped-secrets.module';
import { WorkspacesModule } from '../../workspaces/workspaces.module';
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
