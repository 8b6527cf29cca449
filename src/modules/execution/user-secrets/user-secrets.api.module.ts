import { Module } from '@nestjs/common';
import {
  TenantCatalogSecretsController,
  UserCatalogSecretsController,
  WorkspaceCatalogSecretsController,
} from './catalog-secrets/catalog-secrets.controller';
import {
  TenantSecretsController,
  UserSecretsController,
  WorkspaceSecretsController,
} from './scoped-secrets/scoped-secrets.controller';
import { UserSecretsModule } from './user-secrets.module';

@Module({
  imports: [UserSecretsModule],
  controllers: [
    TenantCatalogSecretsController,
    WorkspaceCatalogSecretsController,
    UserCatalogSecretsController,
    TenantSecretsController,
    WorkspaceSecretsController,
    UserSecretsController,
  ],
})
export class UserSecretsApiModule {}
