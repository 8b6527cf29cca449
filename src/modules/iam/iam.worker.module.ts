import { Module } from '@nestjs/common';
import { SsoLoginsRepository } from './login/sso-logins.repository';
import { SsoLoginSweeper } from './login/workflows/sso-login-sweeper';
import { SessionSweeper } from './sessions/workflows/session-sweeper';

@Module({ providers: [SsoLoginsRepository, SsoLoginSweeper, SessionSweeper] })
export class IamWorkerModule {}
