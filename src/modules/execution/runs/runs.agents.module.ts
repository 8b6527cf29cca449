import { Module } from '@nestjs/common';
import { RunsModule } from './runs.module';
import { ResultPrefetchRepository } from './thrift-sql/result-prefetch.repository';
import { ThriftFramesService } from './thrift-sql/thrift-frames.service';

/** Only for processes that serve agents: takes in what the processes of SQL servers say. */
@Module({
  imports: [RunsModule],
  providers: [ThriftFramesService, ResultPrefetchRepository],
  exports: [ResultPrefetchRepository],
})
export class RunsAgentsModule {}
