import { Module } from '@nestjs/common';
import { DirectorySyncController } from './external-directory/directory-sync.controller';
import { DirectorySyncService } from './external-directory/directory-sync.service';
import { ExternalAccounts } from './external-directory/external-accounts';
import { ExternalAccountsRepository } from './external-directory/external-accounts.repository';
import { LoginDirectory } from './external-directory/login-directory';
import { IamModule } from './iam.module';
import { LoginLimiter } from './login/login-limiter';
import { LoginSessions } from './login/login-sessions';
import { BrowserSessionController } from './login/browser-session.controller';
import { LoginController } from './login/login.controller';
import { LoginService } from './login/login.service';
import { SsoLoginService } from './login/sso-login.service';
import { SsoLoginsRepository } from './login/sso-logins.repository';
import { AccountController } from './own-account/account.controller';
import { AccountService } from './own-account/account.service';
import { OwnPasswordService } from './own-account/own-password.service';
import { PersonalTokensController } from './personal-tokens/personal-tokens.controller';
import { PersonalTokensRepository } from './personal-tokens/personal-tokens.repository';
import { PersonalTokensService } from './personal-tokens/personal-tokens.service';
import { PlatformAdminController } from './role-assignments/platform-admin.controller';
import { RoleAssignmentsService } from './role-assignments/role-assignments.service';
import { TenantAdminController } from './role-assignments/tenant-admin.controller';
import { TenantDirectoryService } from './role-assignments/tenant-directory.service';
import { AccessLookupsController } from './roles/access-lookups.controller';
import { AccessLookupsService } from './roles/access-lookups.service';
import { LockoutProtection } from './roles/lockout-protection';
import { SessionChanges } from './sessions/session-changes';
import { TenantsController } from './tenants/tenants.controller';
import { TenantsRepository } from './tenants/tenants.repository';
import { TenantsService } from './tenants/tenants.service';
import { GroupsController } from './users-and-groups/groups.controller';
import { GroupsService } from './users-and-groups/groups.service';
import { PlatformTakeover } from './users-and-groups/platform-takeover';
import { RoleGrants } from './users-and-groups/role-grants';
import { UsersController } from './users-and-groups/users.controller';
import { UsersService } from './users-and-groups/users.service';

@Module({
  imports: [IamModule],
  providers: [
    AccessLookupsService,
    AccountService,
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
    PlatformTakeover,
    RoleAssignmentsService,
    RoleGrants,
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
    BrowserSessionController,
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
