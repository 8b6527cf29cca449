import { Module } from '@nestjs/common';
import { retention } from '../../../platform/background/workflows/retention';
import { LogOwners } from './logs/log-owners.repository';
import { LogSettler } from './logs/background/log-settler';
import { LogSweeper } from './logs/background/log-sweeper';
import { ENDED_FILES } from './object-storage-managers/object-storage-files.repository';

@Module({
  providers: [LogOwners, LogSweeper, LogSettler, retention(ENDED_FILES)],
})
export class StorageWorkerModule {}
