import { Module } from '@nestjs/common';
import { StorageModule } from '../../infrastructure/storage/storage.module';
import { RunsModule } from '../runs/runs.module';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { NotebookConfsController } from './content/notebook-confs.controller';
import { NotebookConfsService } from './content/notebook-confs.service';
import { NotebookFileUse } from './content/notebook-file-use';
import { NotebookListsController } from './content/notebook-lists.controller';
import { NotebookListsRepository } from './content/notebook-lists.repository';
import { NotebookListsService } from './content/notebook-lists.service';
import { NotebookReader } from './content/notebook-reader.service';
import { KernelSocketsService } from './instances/kernel-sockets.service';
import { KernelsController } from './instances/kernels.controller';
import { NotebookInstancesController } from './instances/notebook-instances.controller';
import { NotebooksModule } from './notebooks.module';
import { DocumentedNotebooks } from './workspace-documents/documented-notebooks.service';
import { WorkspaceDocumentsController } from './workspace-documents/workspace-documents.controller';
import { WorkspaceDocumentsService } from './workspace-documents/workspace-documents.service';

@Module({
  imports: [NotebooksModule, RunsModule, WorkspacesModule, StorageModule],
  providers: [
    NotebookConfsService,
    NotebookListsRepository,
    NotebookListsService,
    NotebookReader,
    NotebookFileUse,
    KernelSocketsService,
    WorkspaceDocumentsService,
    DocumentedNotebooks,
  ],
  controllers: [
    NotebookConfsController,
    NotebookListsController,
    NotebookInstancesController,
    KernelsController,
    WorkspaceDocumentsController,
  ],
})
export class NotebooksApiModule {}
