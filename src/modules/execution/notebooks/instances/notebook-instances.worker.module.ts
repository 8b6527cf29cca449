import { Module } from '@nestjs/common';
import { NotebookInstancesModule } from './notebook-instances.module';
import { EndedKernelsSweeper } from './workflows/ended-kernels-sweeper';
import { IdleKernels } from './workflows/idle-kernels';

@Module({ imports: [NotebookInstancesModule], providers: [IdleKernels, EndedKernelsSweeper] })
export class NotebookInstancesWorkerModule {}
