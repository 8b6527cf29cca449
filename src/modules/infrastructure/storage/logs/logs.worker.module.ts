import { Module } from '@nestjs/common';
import { LogOwners } from './log-owners.repository';
import { LogSettler } from './workflows/log-settler';
import { LogSweeper } from './workflows/log-sweeper';

@Module({ providers: [LogOwners, LogSweeper, LogSettler] })
export class LogsWorkerModule {}
