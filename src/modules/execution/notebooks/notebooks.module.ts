import { Module } from '@nestjs/common';
import { RunsModule } from '../runs/runs.module';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { NotebookCellsService } from './content/notebook-cells.service';
import { NotebookContentsRepository } from './content/notebook-contents.repository';
import { NotebookContentsService } from './content/notebook-contents.service';
import { NotebookDocumentsRepository } from './content/notebook-documents.repository';
import { NotebookDocumentsService } from './content/notebook-documents.service';
import { NotebookOutputsRepository } from './content/notebook-outputs.repository';
import { NotebookOutputsService } from './content/notebook-outputs.service';
import { NotebookStagingService } from './content/notebook-staging.service';
import { KernelsRepository } from './instances/kernels.repository';
import { KernelsService } from './instances/kernels.service';
import { NotebookInstancesService } from './instances/notebook-instances.service';

@Module({
  imports: [RunsModule, WorkspacesModule],
  providers: [
    NotebookCellsService,
    NotebookContentsRepository,
    NotebookContentsService,
    NotebookDocumentsRepository,
    NotebookDocumentsService,
    NotebookOutputsRepository,
    NotebookOutputsService,
    NotebookStagingService,
    KernelsRepository,
    KernelsService,
    NotebookInstancesService,
  ],
  exports: [
    NotebookCellsService,
    NotebookContentsRepository,
    NotebookDocumentsRepository,
    NotebookDocumentsService,
    NotebookOutputsRepository,
    NotebookOutputsService,
    NotebookStagingService,
    KernelsRepository,
    KernelsService,
    NotebookInstancesService,
  ],
})
export class NotebooksModule {}
