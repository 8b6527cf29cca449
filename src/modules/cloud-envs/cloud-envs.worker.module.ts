import { Module } from '@nestjs/common';
import { Config } from '../../config/config';
import { LOGGER } from '../../platform/logging/logger';
import { LocalConfinementService } from './local-confinement.service';
import { LocalHostsRepository } from './local-hosts.repository';
import { LocalHostReporter } from './workflows/local-host-reporter';

@Module({
  providers: [
    LocalHostsRepository,
    LocalHostReporter,
    {
      provide: LocalConfinementService,
      inject: [Config, LOGGER],
      useFactory: LocalConfinementService.choose.bind(LocalConfinementService),
    },
  ],
  exports: [LocalHostReporter, LocalConfinementService],
})
export class CloudEnvsWorkerModule {}
