import { Module } from '@nestjs/common';
import { bindAdapter } from '../../../platform/kernel/process/bind-adapter';
import { retention } from '../../../platform/background/workflows/retention';
import { InstanceUse } from '../runs';
import { BlobUse } from '../workspaces';
import { NotebookContentsRepository } from './content/notebook-contents.repository';
import { ENDED_KERNELS } from './instances/kernels.repository';
import { KernelInstanceUse } from './instances/kernel-instance-use.repository';
import { NotebookContentSweeper } from './content/background/notebook-content-sweeper';
import { IdleKernels } from './instances/background/idle-kernels';
import { NotebooksModule } from './notebooks.module';

@Module({
  imports: [
    NotebooksModule,
    bindAdapter(BlobUse, NotebookContentsRepository),
    bindAdapter(InstanceUse, KernelInstanceUse),
  ],
  providers: [NotebookContentSweeper, IdleKernels, retention(ENDED_KERNELS)],
})
export class NotebooksWorkerModule {}
