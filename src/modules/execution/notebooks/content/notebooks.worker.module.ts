import { Module } from '@nestjs/common';
import { NotebooksModule } from './notebooks.module';
import { NotebookContentSweeper } from './workflows/notebook-content-sweeper';

@Module({ imports: [NotebooksModule], providers: [NotebookContentSweeper] })
export class NotebooksWorkerModule {}
