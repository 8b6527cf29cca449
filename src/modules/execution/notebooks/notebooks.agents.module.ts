import { Module } from '@nestjs/common';
import { KernelFramesService } from './instances/kernel-frames.service';
import { NotebooksModule } from './notebooks.module';

/** Consumes the frames of kernels; only for processes that serve agents. */
@Module({
  imports: [NotebooksModule],
  providers: [KernelFramesService],
})
export class NotebooksAgentsModule {}
