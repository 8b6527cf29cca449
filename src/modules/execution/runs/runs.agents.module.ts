import { Module } from '@nestjs/common';
import { RunsModule } from './runs.module';
import { ThriftAheadRepository } from './thrift-sql/thrift-ahead.repository';
import { ThriftFramesService } from './thrift-sql/thrift-frames.service';

/** Only for processes that serve agents: takes in what the processes of SQL servers say. */
@Module({
  imports: [RunsModule],
  providers: [ThriftFramesService, ThriftAheadRepository],
  exports: [ThriftAheadRepository],
})
export class RunsAgentsModule {}
