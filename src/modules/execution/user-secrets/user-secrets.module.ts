import { Module } from '@nestjs/common';
import { ReferenceDataModule } from '../../foundation/reference-data/reference-data.module';
import { SecretsModule } from '../../foundation/secrets/secrets.module';
import { MetastoresModule } from '../../infrastructure/metastores/metastores.module';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import {
  NearestSecretsRepository,
  TenantCatalogSecretsRepository,
  UserCatalogSecretsRepository,
  WorkspaceCatalogSecretsRepository,
} from './catalog-secrets/catalog-secrets.repository';
import { CatalogSecretsService } from './catalog-secrets/catalog-secrets.service';
import { RunMetastoresService } from './catalog-secrets/run-metastores.service';
import { TenantCatalogSecretsService } from './catalog-secrets/tenant-catalog-secrets.service';
import { UserCatalogSecretsService } from './catalog-secrets/user-catalog-secrets.service';
import { WorkspaceCatalogSecretsService } from './catalog-secrets/workspace-catalog-secrets.service';
import { RunSecretsRepository } from './scoped-secrets/run-secrets.repository';
import { RunSecretsService } from './scoped-secrets/run-secrets.service';
import {
  SecretsOfTenantRepository,
  SecretsOfUserRepository,
  SecretsOfWorkspaceRepository,
} from './scoped-secrets/scoped-secrets.repository';
import { SecretsOfTenantService } from './scoped-secrets/secrets-of-tenant.service';
import { SecretsOfUserService } from './scoped-secrets/secrets-of-user.service';
import { SecretsOfWorkspaceService } from './scoped-secrets/secrets-of-workspace.service';

@Module({
  imports: [MetastoresModule, ReferenceDataModule, WorkspacesModule, SecretsModule],
  providers: [
    TenantCatalogSecretsService,
    WorkspaceCatalogSecretsService,
    UserCatalogSecretsService,
    TenantCatalogSecretsRepository,
    WorkspaceCatalogSecretsRepository,
    UserCatalogSecretsRepository,
    CatalogSecretsService,
    NearestSecretsRepository,
    RunMetastoresService,
    SecretsOfTenantService,
    SecretsOfWorkspaceService,
    SecretsOfUserService,
    RunSecretsService,
    RunSecretsRepository,
    SecretsOfTenantRepository,
    SecretsOfWorkspaceRepository,
    SecretsOfUserRepository,
  ],
  exports: [
    TenantCatalogSecretsService,
    WorkspaceCatalogSecretsService,
    UserCatalogSecretsService,
    CatalogSecretsService,
    RunMetastoresService,
    SecretsOfTenantService,
    SecretsOfWorkspaceService,
    SecretsOfUserService,
    RunSecretsService,
  ],
})
export class UserSecretsModule {}
