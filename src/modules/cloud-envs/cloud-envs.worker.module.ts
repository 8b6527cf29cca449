import { Module } from '@nestjs/common';
import { LocalHostsRepository } from './local-hosts.repository';
import { LocalHostReporter } from './workflows/local-host-reporter';

@Module({ providers: [LocalHostsRepository, LocalHostReporter], exports: [LocalHostReporter] })
export class CloudEnvsWorkerModule {}
