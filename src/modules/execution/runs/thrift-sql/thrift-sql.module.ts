import { Module } from '@nestjs/common';
import { JobsModule } from '../jobs/jobs.module';
import { ThriftAheadRepository } from './thrift-ahead.repository';
import { ThriftFramesService } from './thrift-frames.service';

/** What takes in the frames of runs that serve SQL, wherever agents are served. */
@Module({
  imports: [JobsModule],
  providers: [ThriftFramesService, ThriftAheadRepository],
  exports: [ThriftAheadRepository],
})
export class ThriftSqlModule {}
