import { Module } from '@nestjs/common';
import { ClustersModule } from '../clusters/clusters.module';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { ClusterJobsController } from './cluster-jobs.controller';
import { JobStatsController } from './job-stats.controller';
import { JobsController } from './jobs.controller';
import { JobsModule } from './jobs.module';
import { WorkspaceDocumentsController } from './workspace-documents.controller';
import { WorkspaceDocumentsService } from './workspace-documents.service';

@Module({
  imports: [JobsModule, ClustersModule, WorkspacesModule],
  providers: [WorkspaceDocumentsService],
  controllers: [JobsController, JobStatsController, ClusterJobsController, WorkspaceDocumentsController],
})
export class JobsApiModule {}
