import { Module } from '@nestjs/common';
import { AccountController } from './account.controller';
import { AccountService } from './account.service';
import { IamModule } from './iam.module';
import { LoginController } from './login.controller';
import { LoginLimiter } from './login-limiter';
import { LoginService } from './login.service';

@Module({
  imports: [IamModule],
  providers: [AccountService, LoginService, LoginLimiter],
  controllers: [LoginController, AccountController],
})
export class IamApiModule {}
