import { Module } from '@nestjs/common';
import { NotebooksModule } from '../content/notebooks.module';
import { KernelFramesService } from './kernel-frames.service';
import { NotebookInstancesModule } from './notebook-instances.module';

/** Only for processes that serve agents: takes in what kernels say. */
@Module({ imports: [NotebookInstancesModule, NotebooksModule], providers: [KernelFramesService] })
export class KernelFramesModule {}
