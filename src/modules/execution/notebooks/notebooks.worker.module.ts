import { Module } from '@nestjs/common';
import { answering } from '../../../platform/kernel/process/answering';
import { InstanceUse } from '../runs';
import { BlobUse } from '../workspaces';
import { NotebookContentsRepository } from './content/notebook-contents.repository';
import { KernelInstanceUse } from './instances/kernel-instance-use.repository';
import { NotebookContentSweeper } from './content/workflows/notebook-content-sweeper';
import { EndedKernelsSweeper } from './instances/workflows/ended-kernels-sweeper';
import { IdleKernels } from './instances/workflows/idle-kernels';
import { NotebooksModule } from './notebooks.module';

@Module({
  imports: [NotebooksModule, answering(BlobUse, NotebookContentsRepository), answering(InstanceUse, KernelInstanceUse)],
  providers: [NotebookContentSweeper, IdleKernels, EndedKernelsSweeper],
})
export class NotebooksWorkerModule {}
