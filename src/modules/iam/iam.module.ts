import { Module } from '@nestjs/common';
import { AUTHENTICATOR } from '../../platform/auth/authentication';
import { AccessTokens } from './access-tokens';
import { DirectoryRepository } from './directory.repository';
import { DirectoryService } from './directory.service';
import { GroupsRepository } from './groups.repository';
import { RolesRepository } from './roles.repository';
import { SessionAuthenticator } from './session-authenticator';
import { SessionsRepository } from './sessions.repository';
import { UsersRepository } from './users.repository';

@Module({
  providers: [
    AccessTokens,
    DirectoryRepository,
    DirectoryService,
    GroupsRepository,
    RolesRepository,
    SessionsRepository,
    UsersRepository,
    SessionAuthenticator,
    { provide: AUTHENTICATOR, useExisting: SessionAuthenticator },
  ],
  exports: [
    AUTHENTICATOR,
    DirectoryService,
    AccessTokens,
    DirectoryRepository,
    GroupsRepository,
    RolesRepository,
    SessionAuthenticator,
    SessionsRepository,
    UsersRepository,
  ],
})
export class IamModule {}
