import { Module } from '@nestjs/common';
import { NotebookContentsRepository } from './notebook-contents.repository';
import { NotebookContentsService } from './notebook-contents.service';
import { NotebookDocumentsRepository } from './notebook-documents.repository';
import { NotebookDocumentsService } from './notebook-documents.service';
import { NotebookOutputsRepository } from './notebook-outputs.repository';
import { NotebookOutputsService } from './notebook-outputs.service';

@Module({
  providers: [
    NotebookContentsRepository,
    NotebookContentsService,
    NotebookDocumentsRepository,
    NotebookDocumentsService,
    NotebookOutputsRepository,
    NotebookOutputsService,
  ],
  exports: [NotebookContentsService, NotebookDocumentsService, NotebookDocumentsRepository, NotebookOutputsService],
})
export class NotebooksModule {}
