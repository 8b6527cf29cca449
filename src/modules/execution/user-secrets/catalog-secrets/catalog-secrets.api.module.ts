import { Module } from '@nestjs/common';
import {
  TenantCatalogSecretsController,
  UserCatalogSecretsController,
  WorkspaceCatalogSecretsController,
} from './catalog-secrets.controller';
import { CatalogSecretsModule } from './catalog-secrets.module';

@Module({
  imports: [CatalogSecretsModule],
  controllers: [TenantCatalogSecretsController, WorkspaceCatalogSecretsController, UserCatalogSecretsController],
})
export class CatalogSecretsApiModule {}
