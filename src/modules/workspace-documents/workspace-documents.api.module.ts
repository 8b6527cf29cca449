import { Module } from '@nestjs/common';
import { DependencyRepositoriesModule } from '../dependency-repositories/dependency-repositories.module';
import { JobsModule } from '../jobs/jobs.module';
import { NotebooksModule } from '../notebooks/notebooks.module';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { DocumentedNotebooks } from './documented-notebooks.service';
import { WorkspaceDocumentsController } from './workspace-documents.controller';
import { WorkspaceDocumentsService } from './workspace-documents.service';

@Module({
  imports: [JobsModule, NotebooksModule, WorkspacesModule, DependencyRepositoriesModule],
  providers: [WorkspaceDocumentsService, DocumentedNotebooks],
  controllers: [WorkspaceDocumentsController],
})
export class WorkspaceDocumentsApiModule {}
