import { Module } from '@nestjs/common';
import { JobsModule } from '../../runs/jobs/jobs.module';
import { NotebooksModule } from '../content/notebooks.module';
import { RunChannelsModule } from '../../runs/channels/run-channels.module';
import { KernelsRepository } from './kernels.repository';
import { KernelsService } from './kernels.service';
import { NotebookInstancesService } from './notebook-instances.service';

@Module({
  imports: [JobsModule, NotebooksModule, RunChannelsModule],
  providers: [KernelsRepository, KernelsService, NotebookInstancesService],
  exports: [KernelsRepository, KernelsService, NotebookInstancesService],
})
export class NotebookInstancesModule {}
