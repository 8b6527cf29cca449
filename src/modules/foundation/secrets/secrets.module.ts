import { Module } from '@nestjs/common';
import { TenantSecretsRepository } from './tenant-secrets.repository';
import { TenantSecretsService } from './tenant-secrets.service';

@Module({
  providers: [TenantSecretsService, TenantSecretsRepository],
  exports: [TenantSecretsService],
})
export class SecretsModule {}
