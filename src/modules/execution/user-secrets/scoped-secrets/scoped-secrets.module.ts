import { Module } from '@nestjs/common';
import { ReferenceDataModule } from '../../../foundation/reference-data/reference-data.module';
import { SecretsModule } from '../../../foundation/secrets/secrets.module';
import { WorkspacesModule } from '../../workspaces/workspaces.module';
import { RunSecretsRepository } from './run-secrets.repository';
import { RunSecretsService } from './run-secrets.service';
import {
  SecretsOfTenantRepository,
  SecretsOfUserRepository,
  SecretsOfWorkspaceRepository,
} from './scoped-secrets.repository';
import { SecretsOfTenantService } from './secrets-of-tenant.service';
import { SecretsOfUserService } from './secrets-of-user.service';
import { SecretsOfWorkspaceService } from './secrets-of-workspace.service';

@Module({
  imports: [ReferenceDataModule, SecretsModule, WorkspacesModule],
  providers: [
    ...[SecretsOfTenantService, SecretsOfWorkspaceService, SecretsOfUserService],
    ...[RunSecretsService, RunSecretsRepository],
    ...[SecretsOfTenantRepository, SecretsOfWorkspaceRepository, SecretsOfUserRepository],
  ],
  exports: [SecretsOfTenantService, SecretsOfWorkspaceService, SecretsOfUserService, RunSecretsService],
})
export class ScopedSecretsModule {}
