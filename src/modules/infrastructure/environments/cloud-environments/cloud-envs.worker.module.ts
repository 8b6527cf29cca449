import { Module } from '@nestjs/common';
import { LocalNodesModule } from './local-nodes.module';
import { LocalHostReporter } from './workflows/local-host-reporter';

@Module({
  imports: [LocalNodesModule],
  providers: [LocalHostReporter],
  exports: [LocalNodesModule, LocalHostReporter],
})
export class CloudEnvsWorkerModule {}
