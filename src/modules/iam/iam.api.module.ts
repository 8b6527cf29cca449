import { Module } from '@nestjs/common';
import { ClusterUsageModule } from '../cluster-usage/cluster-usage.module';
import { AccessLookupsController } from './access-lookups.controller';
import { AccessLookupsService } from './access-lookups.service';
import { AccountController } from './account.controller';
import { AccountService } from './account.service';
import { IamModule } from './iam.module';
import { LoginController } from './login.controller';
import { LoginLimiter } from './login-limiter';
import { LoginService } from './login.service';
import { OwnPasswordService } from './own-password.service';
import { PersonalTokensController } from './personal-tokens.controller';
import { PersonalTokensRepository } from './personal-tokens.repository';
import { PersonalTokensService } from './personal-tokens.service';
import { TenantsController } from './tenants.controller';
import { TenantsRepository } from './tenants.repository';
import { TenantsService } from './tenants.service';

@Module({
  imports: [IamModule, ClusterUsageModule],
  providers: [
    AccessLookupsService,
    AccountService,
    LoginService,
    LoginLimiter,
    OwnPasswordService,
    PersonalTokensService,
    PersonalTokensRepository,
    TenantsService,
    TenantsRepository,
  ],
  controllers: [
    LoginController,
    AccountController,
    PersonalTokensController,
    AccessLookupsController,
    TenantsController,
  ],
})
export class IamApiModule {}
