import { Module } from '@nestjs/common';
import { DependencyRepositoriesModule } from '../../../infrastructure/storage/dependency-repositories/dependency-repositories.module';
import { JobsModule } from '../../runs/jobs/jobs.module';
import { NotebooksModule } from '../content/notebooks.module';
import { WorkspacesModule } from '../../workspaces/workspaces.module';
import { DocumentedNotebooks } from './documented-notebooks.service';
import { WorkspaceDocumentsController } from './workspace-documents.controller';
import { WorkspaceDocumentsService } from './workspace-documents.service';

@Module({
  imports: [JobsModule, NotebooksModule, WorkspacesModule, DependencyRepositoriesModule],
  providers: [WorkspaceDocumentsService, DocumentedNotebooks],
  controllers: [WorkspaceDocumentsController],
})
export class WorkspaceDocumentsApiModule {}
