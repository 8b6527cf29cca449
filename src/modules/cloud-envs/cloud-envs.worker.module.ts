import { Module } from '@nestjs/common';
import { LocalConfinementModule } from './local-confinement.module';
import { LocalHostsRepository } from './local-hosts.repository';
import { LocalHostReporter } from './workflows/local-host-reporter';

@Module({
  imports: [LocalConfinementModule],
  providers: [LocalHostsRepository, LocalHostReporter],
  exports: [LocalHostReporter],
})
export class CloudEnvsWorkerModule {}
