import { Module } from '@nestjs/common';
import { LogsModule } from './logs.module';
import { LogSweeper } from './workflows/log-sweeper';

@Module({ imports: [LogsModule], providers: [LogSweeper] })
export class LogsWorkerModule {}
