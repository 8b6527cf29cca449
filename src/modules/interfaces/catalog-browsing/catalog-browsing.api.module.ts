import { Module } from '@nestjs/common';
import { UserSecretsModule } from '../../execution/user-secrets/user-secrets.module';
import { WorkspacesModule } from '../../execution/workspaces/workspaces.module';
import { MetastoresModule } from '../../infrastructure/metastores/metastores.module';
import { BrowsingController } from './browsing.controller';
import { BrowsingService } from './browsing.service';
import { CatalogAccesses } from './catalog-accesses';
import { CatalogStores } from './catalog-stores';
import { CatalogStoresRepository } from './catalog-stores.repository';
import { MetastoreOpener } from './metastore-opener';
import { Metastores } from './metastores';
import { SecretValidationController } from './secret-validation.controller';
import { SecretValidationService } from './secret-validation.service';
import { TablesController } from './tables.controller';
import { TablesService } from './tables.service';

@Module({
  imports: [UserSecretsModule, MetastoresModule, WorkspacesModule],
  providers: [
    BrowsingService,
    TablesService,
    SecretValidationService,
    CatalogAccesses,
    CatalogStores,
    CatalogStoresRepository,
    MetastoreOpener,
    Metastores,
  ],
  controllers: [BrowsingController, TablesController, SecretValidationController],
})
export class CatalogBrowsingApiModule {}
