import { Module } from '@nestjs/common';
import { JobsModule } from '../../runs/jobs/jobs.module';
import { WorkspacesModule } from '../../workspaces/workspaces.module';
import { NotebookConfsController } from './notebook-confs.controller';
import { NotebookConfsService } from './notebook-confs.service';
import { NotebookFileUse } from './notebook-file-use';
import { NotebookReader } from './notebook-reader.service';
import { NotebooksModule } from './notebooks.module';

@Module({
  imports: [NotebooksModule, JobsModule, WorkspacesModule],
  providers: [NotebookConfsService, NotebookReader, NotebookFileUse],
  controllers: [NotebookConfsController],
})
export class NotebooksApiModule {}
