import { Module } from '@nestjs/common';
import { RunsModule } from './runs.module';
import { ResultPrefetchRepository } from './thrift-sql/result-prefetch.repository';
import { ThriftFramesService } from './thrift-sql/thrift-frames.service';

/** Consumes the frames of SQL servers; only for processes that serve agents. */
@Module({
  imports: [RunsModule],
  providers: [ThriftFramesService, ResultPrefetchRepository],
  exports: [ResultPrefetchRepository],
})
export class RunsAgentsModule {}
