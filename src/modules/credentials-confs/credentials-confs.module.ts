import { Module } from '@nestjs/common';
import { CloudEnvUsageModule } from '../cloud-envs/cloud-env-usage.module';
import { ReferenceDataModule } from '../reference-data/reference-data.module';
import { SecretsModule } from '../secrets/secrets.module';
import { CredentialsConfsRepository } from './credentials-confs.repository';
import { CredentialsConfsService } from './credentials-confs.service';

@Module({
  imports: [ReferenceDataModule, CloudEnvUsageModule, SecretsModule],
  providers: [CredentialsConfsService, CredentialsConfsRepository],
  exports: [CredentialsConfsService],
})
export class CredentialsConfsModule {}
