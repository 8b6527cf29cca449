import { Module } from '@nestjs/common';
import { NotebooksModule } from '../notebooks/notebooks.module';
import { KernelFramesService } from './kernel-frames.service';
import { NotebookInstancesModule } from './notebook-instances.module';

/** Only for the process that agents call: what kernels say. */
@Module({ imports: [NotebookInstancesModule, NotebooksModule], providers: [KernelFramesService] })
export class KernelFramesModule {}
