import { Module } from '@nestjs/common';
import { JobsModule } from '../jobs/jobs.module';
import { FunctionFramesService } from './function-frames.service';

@Module({ imports: [JobsModule], providers: [FunctionFramesService] })
export class FunctionsModule {}
