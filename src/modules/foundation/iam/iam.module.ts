import { Module } from '@nestjs/common';
import { AUTHENTICATOR } from '../../../platform/http/auth/authentication';
import { AccountsService } from './accounts.service';
import { RolesRepository } from './roles/roles.repository';
import { AccessTokens } from './sessions/access-tokens';
import { SessionAuthenticator } from './sessions/session-authenticator';
import { SessionsRepository } from './sessions/sessions.repository';
import { BasicStrategy, CookieStrategy, JwtStrategy } from './sessions/token-strategies';
import { DirectoryRepository } from './users-and-groups/directory.repository';
import { GroupsRepository } from './users-and-groups/groups.repository';
import { UsersRepository } from './users-and-groups/users.repository';

@Module({
  providers: [
    AccessTokens,
    BasicStrategy,
    CookieStrategy,
    DirectoryRepository,
    GroupsRepository,
    JwtStrategy,
    AccountsService,
    RolesRepository,
    SessionsRepository,
    UsersRepository,
    SessionAuthenticator,
    { provide: AUTHENTICATOR, useExisting: SessionAuthenticator },
  ],
  exports: [
    AUTHENTICATOR,
    AccessTokens,
    DirectoryRepository,
    GroupsRepository,
    AccountsService,
    RolesRepository,
    SessionAuthenticator,
    SessionsRepository,
    UsersRepository,
  ],
})
export class IamModule {}
