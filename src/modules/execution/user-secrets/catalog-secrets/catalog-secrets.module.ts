import { Module } from '@nestjs/common';
import { MetastoreCatalogsModule } from '../../../infrastructure/metastores/metastore-catalogs.module';
import { ReferenceDataModule } from '../../../foundation/reference-data/reference-data.module';
import { ScopedSecretsModule } from '../scoped-secrets/scoped-secrets.module';
import { WorkspacesModule } from '../../workspaces/workspaces.module';
import {
  NearestSecretsRepository,
  TenantCatalogSecretsRepository,
  UserCatalogSecretsRepository,
  WorkspaceCatalogSecretsRepository,
} from './catalog-secrets.repository';
import { CatalogSecretsService } from './catalog-secrets.service';
import { RunMetastoresService } from './run-metastores.service';
import { TenantCatalogSecretsService } from './tenant-catalog-secrets.service';
import { UserCatalogSecretsService } from './user-catalog-secrets.service';
import { WorkspaceCatalogSecretsService } from './workspace-catalog-secrets.service';

@Module({
  imports: [MetastoreCatalogsModule, ReferenceDataModule, ScopedSecretsModule, WorkspacesModule],
  providers: [
    ...[TenantCatalogSecretsService, WorkspaceCatalogSecretsService, UserCatalogSecretsService],
    ...[TenantCatalogSecretsRepository, WorkspaceCatalogSecretsRepository, UserCatalogSecretsRepository],
    ...[CatalogSecretsService, NearestSecretsRepository, RunMetastoresService],
  ],
  exports: [
    ...[TenantCatalogSecretsService, WorkspaceCatalogSecretsService, UserCatalogSecretsService],
    ...[CatalogSecretsService, RunMetastoresService],
  ],
})
export class CatalogSecretsModule {}
