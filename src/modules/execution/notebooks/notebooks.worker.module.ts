import { Module } from '@nestjs/common';
import { NotebookContentSweeper } from './content/workflows/notebook-content-sweeper';
import { EndedKernelsSweeper } from './instances/workflows/ended-kernels-sweeper';
import { IdleKernels } from './instances/workflows/idle-kernels';
import { NotebooksModule } from './notebooks.module';

@Module({
  imports: [NotebooksModule],
  providers: [NotebookContentSweeper, IdleKernels, EndedKernelsSweeper],
})
export class NotebooksWorkerModule {}
