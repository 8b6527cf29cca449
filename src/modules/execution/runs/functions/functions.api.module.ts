import { Module } from '@nestjs/common';
import { JobsModule } from '../jobs/jobs.module';
import { RunChannelsModule } from '../channels/run-channels.module';
import { FunctionsController } from './functions.controller';
import { FunctionsModule } from './functions.module';
import { FunctionsService } from './functions.service';

@Module({
  imports: [JobsModule, FunctionsModule, RunChannelsModule],
  providers: [FunctionsService],
  controllers: [FunctionsController],
})
export class FunctionsApiModule {}
