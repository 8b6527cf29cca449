import { Module } from '@nestjs/common';
import { ClustersModule } from '../clusters/clusters.module';
import { DependencyRepositoriesModule } from '../dependency-repositories/dependency-repositories.module';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { ClusterJobsController } from './cluster-jobs.controller';
import { JobConfsController } from './job-confs.controller';
import { JobStatsController } from './job-stats.controller';
import { JobsController } from './jobs.controller';
import { JobsModule } from './jobs.module';
import { WorkspaceDocumentsController } from './workspace-documents.controller';
import { WorkspaceDocumentsService } from './workspace-documents.service';

@Module({
  imports: [JobsModule, ClustersModule, WorkspacesModule, DependencyRepositoriesModule],
  providers: [WorkspaceDocumentsService],
  controllers: [
    JobConfsController,
    JobsController,
    JobStatsController,
    ClusterJobsController,
    WorkspaceDocumentsController,
  ],
})
export class JobsApiModule {}
