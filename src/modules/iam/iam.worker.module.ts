import { Module } from '@nestjs/common';
import { SsoLoginSweeper } from './workflows/sso-login-sweeper';

@Module({ providers: [SsoLoginSweeper], exports: [SsoLoginSweeper] })
export class IamWorkerModule {}
