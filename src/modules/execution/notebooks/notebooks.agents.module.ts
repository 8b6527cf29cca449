import { Module } from '@nestjs/common';
import { KernelFramesService } from './instances/kernel-frames.service';
import { NotebooksModule } from './notebooks.module';

/** Only for processes that serve agents: takes in what kernels say. */
@Module({
  imports: [NotebooksModule],
  providers: [KernelFramesService],
})
export class NotebooksAgentsModule {}
