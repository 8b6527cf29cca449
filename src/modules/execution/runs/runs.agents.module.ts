import { Module } from '@nestjs/common';
import { FunctionFramesService } from './functions/function-frames.service';
import { RunsModule } from './runs.module';
import { ThriftAheadRepository } from './thrift-sql/thrift-ahead.repository';
import { ThriftFramesService } from './thrift-sql/thrift-frames.service';

/** Only for processes that serve agents: takes in what the processes of functions and SQL servers say. */
@Module({
  imports: [RunsModule],
  providers: [FunctionFramesService, ThriftFramesService, ThriftAheadRepository],
  exports: [ThriftAheadRepository],
})
export class RunsAgentsModule {}
