import { Module } from '@nestjs/common';
import { ClusterUsageModule } from '../cluster-usage/cluster-usage.module';
import { WorkspaceUsageModule } from '../workspace-usage/workspace-usage.module';
import { AccessLookupsController } from './access-lookups.controller';
import { AccessLookupsService } from './access-lookups.service';
import { AccountController } from './account.controller';
import { AccountService } from './account.service';
import { AdminReach } from './admin-reach';
import { GroupsController } from './groups.controller';
import { GroupsService } from './groups.service';
import { IamModule } from './iam.module';
import { LockoutProtection } from './lockout-protection';
import { LoginLimiter } from './login-limiter';
import { LoginController } from './login.controller';
import { LoginService } from './login.service';
import { OwnPasswordService } from './own-password.service';
import { PersonalTokensController } from './personal-tokens.controller';
import { PersonalTokensRepository } from './personal-tokens.repository';
import { PersonalTokensService } from './personal-tokens.service';
import { PlatformAdminController } from './platform-admin.controller';
import { RoleAssignmentsService } from './role-assignments.service';
import { SessionChanges } from './session-changes';
import { TenantAdminController } from './tenant-admin.controller';
import { TenantDirectoryService } from './tenant-directory.service';
import { TenantsController } from './tenants.controller';
import { TenantsRepository } from './tenants.repository';
import { TenantsService } from './tenants.service';
import { UsersController } from './users.controller';
import { UsersService } from './users.service';

@Module({
  imports: [IamModule, ClusterUsageModule, WorkspaceUsageModule],
  providers: [
    AccessLookupsService,
    AccountService,
    AdminReach,
    GroupsService,
    LockoutProtection,
    LoginLimiter,
    LoginService,
    OwnPasswordService,
    PersonalTokensRepository,
    PersonalTokensService,
    RoleAssignmentsService,
    SessionChanges,
    TenantDirectoryService,
    TenantsRepository,
    TenantsService,
    UsersService,
  ],
  controllers: [
    LoginController,
    AccountController,
    PersonalTokensController,
    AccessLookupsController,
    UsersController,
    GroupsController,
    TenantAdminController,
    PlatformAdminController,
    TenantsController,
  ],
})
export class IamApiModule {}
