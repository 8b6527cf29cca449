import { Module } from '@nestjs/common';
import { JobsModule } from '../jobs/jobs.module';
import { RunChannelsModule } from '../channels/run-channels.module';
import { ThriftAheadService } from './thrift-ahead.service';
import { ThriftSqlController } from './thrift-sql.controller';
import { ThriftSqlModule } from './thrift-sql.module';
import { ThriftSqlService } from './thrift-sql.service';

@Module({
  imports: [JobsModule, RunChannelsModule, ThriftSqlModule],
  providers: [ThriftSqlService, ThriftAheadService],
  controllers: [ThriftSqlController],
})
export class ThriftSqlApiModule {}
