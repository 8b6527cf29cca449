import { Module } from '@nestjs/common';
import { SessionSweeper } from './workflows/session-sweeper';
import { SsoLoginSweeper } from './workflows/sso-login-sweeper';

@Module({ providers: [SsoLoginSweeper, SessionSweeper], exports: [SsoLoginSweeper, SessionSweeper] })
export class IamWorkerModule {}
