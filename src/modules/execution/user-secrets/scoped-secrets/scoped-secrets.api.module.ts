import { Module } from '@nestjs/common';
import {
  TenantSecretsController,
  UserSecretsController,
  WorkspaceSecretsController,
} from './scoped-secrets.controller';
import { ScopedSecretsModule } from './scoped-secrets.module';

@Module({
  imports: [ScopedSecretsModule],
  controllers: [TenantSecretsController, WorkspaceSecretsController, UserSecretsController],
})
export class ScopedSecretsApiModule {}
