import { Module } from '@nestjs/common';
import { Config } from '../../config/config';
import { LOGGER } from '../../platform/logging/logger';
import { LocalConfinementService } from './local-confinement.service';

/** Only for workers: finds out once what the machine offers. */
@Module({
  providers: [
    {
      provide: LocalConfinementService,
      inject: [Config, LOGGER],
      useFactory: LocalConfinementService.choose.bind(LocalConfinementService),
    },
  ],
  exports: [LocalConfinementService],
})
export class LocalConfinementModule {}
