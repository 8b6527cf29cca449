import { Module } from '@nestjs/common';
import { SsoLoginSweeper } from './login/workflows/sso-login-sweeper';
import { SessionSweeper } from './sessions/workflows/session-sweeper';

@Module({ providers: [SsoLoginSweeper, SessionSweeper] })
export class IamWorkerModule {}
