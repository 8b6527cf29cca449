import { Module } from '@nestjs/common';
import { NotebookInstancesModule } from './notebook-instances.module';
import { IdleKernels } from './workflows/idle-kernels';

@Module({ imports: [NotebookInstancesModule], providers: [IdleKernels] })
export class NotebookInstancesWorkerModule {}
