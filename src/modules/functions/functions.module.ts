import { Module } from '@nestjs/common';
import { JobsModule } from '../jobs/jobs.module';
import { FunctionFramesService } from './function-frames.service';

/** What takes in the frames of functions, wherever agents are served. */
@Module({ imports: [JobsModule], providers: [FunctionFramesService] })
export class FunctionsModule {}
