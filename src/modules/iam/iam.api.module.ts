import { Module } from '@nestjs/common';
import { ClusterUsageModule } from '../cluster-usage/cluster-usage.module';
import { WorkspaceUsageModule } from '../workspace-usage/workspace-usage.module';
import { AccessLookupsController } from './access-lookups.controller';
import { AccessLookupsService } from './access-lookups.service';
import { AccountController } from './account.controller';
import { AccountService } from './account.service';
import { AdminReach } from './admin-reach';
import { DirectorySyncController } from './directory-sync.controller';
import { DirectorySyncService } from './directory-sync.service';
import { ExternalAccounts } from './external-accounts';
import { ExternalAccountsRepository } from './external-accounts.repository';
import { GroupsController } from './groups.controller';
import { GroupsService } from './groups.service';
import { IamModule } from './iam.module';
import { LockoutProtection } from './lockout-protection';
import { LoginDirectory } from './login-directory';
import { LoginLimiter } from './login-limiter';
import { LoginSessions } from './login-sessions';
import { LoginController } from './login.controller';
import { LoginService } from './login.service';
import { OwnPasswordService } from './own-password.service';
import { PersonalTokensController } from './personal-tokens.controller';
import { PersonalTokensRepository } from './personal-tokens.repository';
import { PersonalTokensService } from './personal-tokens.service';
import { PlatformAdminController } from './platform-admin.controller';
import { RoleAssignmentsService } from './role-assignments.service';
import { SessionChanges } from './session-changes';
import { SsoLoginService } from './sso-login.service';
import { SsoLoginsRepository } from './sso-logins.repository';
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
    DirectorySyncService,
    ExternalAccounts,
    ExternalAccountsRepository,
    GroupsService,
    LockoutProtection,
    LoginDirectory,
    LoginLimiter,
    LoginService,
    LoginSessions,
    OwnPasswordService,
    PersonalTokensRepository,
    PersonalTokensService,
    RoleAssignmentsService,
    SessionChanges,
    SsoLoginService,
    SsoLoginsRepository,
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
    DirectorySyncController,
    TenantAdminController,
    PlatformAdminController,
    TenantsController,
  ],
})
export class IamApiModule {}
