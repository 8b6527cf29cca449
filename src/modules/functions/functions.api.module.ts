import { Module } from '@nestjs/common';
import { JobsModule } from '../jobs/jobs.module';
import { RunChannelsModule } from '../run-channels/run-channels.module';
import { FunctionFramesService } from './function-frames.service';
import { FunctionsController } from './functions.controller';
import { FunctionsService } from './functions.service';

@Module({
  imports: [JobsModule, RunChannelsModule],
  providers: [FunctionsService, FunctionFramesService],
  controllers: [FunctionsController],
})
export class FunctionsApiModule {}
