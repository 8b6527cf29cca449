import { Module } from '@nestjs/common';
import { Config } from '../../../config/config';
import { LOGGER } from '../../../platform/kernel/logging/logger';
import { LocalConfinementService } from './cloud-environments/local-confinement.service';
import { LocalFolderService } from './cloud-environments/local-folder.service';
import { LocalHostReporter } from './cloud-environments/background/local-host-reporter';
import { EnvironmentsModule } from './environments.module';

/** Provides local nodes and their confinement, for workers only. */
@Module({
  imports: [EnvironmentsModule],
  providers: [
    LocalHostReporter,
    {
      provide: LocalConfinementService,
      inject: [Config, LOGGER],
      useFactory: LocalConfinementService.choose.bind(LocalConfinementService),
    },
    LocalFolderService,
  ],
  exports: [LocalHostReporter, LocalConfinementService, LocalFolderService],
})
export class EnvironmentsWorkerModule {}
