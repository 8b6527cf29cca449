import { Module } from '@nestjs/common';
import { JobsModule } from '../../runs/jobs/jobs.module';
import { WorkspacesModule } from '../../workspaces/workspaces.module';
import { NotebookCellsService } from './notebook-cells.service';
import { NotebookContentsRepository } from './notebook-contents.repository';
import { NotebookContentsService } from './notebook-contents.service';
import { NotebookDocumentsRepository } from './notebook-documents.repository';
import { NotebookDocumentsService } from './notebook-documents.service';
import { NotebookOutputsRepository } from './notebook-outputs.repository';
import { NotebookOutputsService } from './notebook-outputs.service';
import { NotebookStagingService } from './notebook-staging.service';

@Module({
  imports: [JobsModule, WorkspacesModule],
  providers: [
    NotebookCellsService,
    NotebookContentsRepository,
    NotebookContentsService,
    NotebookDocumentsRepository,
    NotebookDocumentsService,
    NotebookOutputsRepository,
    NotebookOutputsService,
    NotebookStagingService,
  ],
  exports: [
    NotebookCellsService,
    NotebookContentsRepository,
    NotebookDocumentsRepository,
    NotebookDocumentsService,
    NotebookOutputsRepository,
    NotebookOutputsService,
    NotebookStagingService,
  ],
})
export class NotebooksModule {}
