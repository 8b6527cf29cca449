import { Module } from '@nestjs/common';
import { Config } from '../../../../config/config';
import { LOGGER } from '../../../../platform/kernel/logging/logger';
import { LocalConfinementService } from './local-confinement.service';
import { LocalFolderService } from './local-folder.service';
import { LocalHostsRepository } from './local-hosts.repository';

/** Only for workers: how well the machine can confine jobs, and whether this worker has local nodes. */
@Module({
  providers: [
    {
      provide: LocalConfinementService,
      inject: [Config, LOGGER],
      useFactory: LocalConfinementService.choose.bind(LocalConfinementService),
    },
    LocalFolderService,
    LocalHostsRepository,
  ],
  exports: [LocalConfinementService, LocalFolderService, LocalHostsRepository],
})
export class LocalNodesModule {}
