import { Module } from '@nestjs/common';
import { CloudEnvUsageModule } from '../cloud-envs/cloud-env-usage.module';
import { ReferenceDataModule } from '../reference-data/reference-data.module';
import { CloudEnvsRepository } from './cloud-envs.repository';
import { CloudEnvsService } from './cloud-envs.service';

@Module({
  imports: [ReferenceDataModule, CloudEnvUsageModule],
  providers: [CloudEnvsService, CloudEnvsRepository],
  exports: [CloudEnvsService],
})
export class CloudEnvsModule {}
