import { Module } from '@nestjs/common';
import { retention } from '../../../platform/background/workflows/retention';
import { EXPIRED_SSO_LOGINS } from './login/sso-logins.repository';
import { ENDED_SESSIONS } from './sessions/sessions.repository';

@Module({
  providers: [retention(ENDED_SESSIONS), retention(EXPIRED_SSO_LOGINS)],
})
export class IamWorkerModule {}
