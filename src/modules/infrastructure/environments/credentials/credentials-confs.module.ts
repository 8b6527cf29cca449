import { Module } from '@nestjs/common';
import { ReferenceDataModule } from '../../../foundation/reference-data/reference-data.module';
import { SecretsModule } from '../../../foundation/secrets/secrets.module';
import { CredentialsCheckService } from './credentials-check.service';
import { CredentialsConfsRepository } from './credentials-confs.repository';
import { CredentialsConfsService } from './credentials-confs.service';

@Module({
  imports: [ReferenceDataModule, SecretsModule],
  providers: [CredentialsConfsService, CredentialsCheckService, CredentialsConfsRepository],
  exports: [CredentialsConfsService, CredentialsCheckService],
})
export class CredentialsConfsModule {}
