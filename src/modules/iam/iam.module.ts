import { Module } from '@nestjs/common';
import { AUTHENTICATOR } from '../../platform/auth/authentication';
import { AccessTokens } from './access-tokens';
import { DirectoryRepository } from './directory.repository';
import { DirectoryService } from './directory.service';
import { SessionAuthenticator } from './session-authenticator';
import { SessionsRepository } from './sessions.repository';

@Module({
  providers: [
    AccessTokens,
    DirectoryRepository,
    DirectoryService,
    SessionsRepository,
    SessionAuthenticator,
    { provide: AUTHENTICATOR, useExisting: SessionAuthenticator },
  ],
  exports: [
    AUTHENTICATOR,
    DirectoryService,
    AccessTokens,
    DirectoryRepository,
    SessionAuthenticator,
    SessionsRepository,
  ],
})
export class IamModule {}
