import { Module } from '@nestjs/common';
import { RunChannelsModule } from '../../runs/channels/run-channels.module';
import { KernelSocketsService } from './kernel-sockets.service';
import { KernelsController } from './kernels.controller';
import { NotebookInstancesController } from './notebook-instances.controller';
import { NotebookInstancesModule } from './notebook-instances.module';

@Module({
  imports: [NotebookInstancesModule, RunChannelsModule],
  providers: [KernelSocketsService],
  controllers: [NotebookInstancesController, KernelsController],
})
export class NotebookInstancesApiModule {}
