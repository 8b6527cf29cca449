import { Module } from '@nestjs/common';
import { JobsModule } from '../jobs/jobs.module';
import { NotebooksModule } from '../notebooks/notebooks.module';
import { RunChannelsModule } from '../run-channels/run-channels.module';
import { KernelsRepository } from './kernels.repository';
import { KernelsService } from './kernels.service';
import { NotebookInstancesService } from './notebook-instances.service';

@Module({
  imports: [JobsModule, NotebooksModule, RunChannelsModule],
  providers: [KernelsRepository, KernelsService, NotebookInstancesService],
  exports: [KernelsRepository, KernelsService, NotebookInstancesService],
})
export class NotebookInstancesModule {}
