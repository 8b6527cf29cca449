import { Module } from '@nestjs/common';
import { retention } from '../../../platform/background/workflows/retention';
import { LogOwnersRepository } from './logs/log-owners.repository';
import { LogCompactor } from './logs/background/log-compactor';
import { LogSweeper } from './logs/background/log-sweeper';
import { ENDED_FILES } from './object-storage-managers/object-storage-files.repository';

@Module({
  providers: [LogOwnersRepository, LogSweeper, LogCompactor, retention(ENDED_FILES)],
})
export class StorageWorkerModule {}
