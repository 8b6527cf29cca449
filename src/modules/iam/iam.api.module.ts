import { Module } from '@nestjs/common';
import { AccessLookupsController } from './access-lookups.controller';
import { AccessLookupsService } from './access-lookups.service';
import { AccountController } from './account.controller';
import { AccountService } from './account.service';
import { IamModule } from './iam.module';
import { LoginController } from './login.controller';
import { LoginLimiter } from './login-limiter';
import { LoginService } from './login.service';
import { OwnPasswordService } from './own-password.service';
import { PersonalTokensController } from './personal-tokens.controller';
import { PersonalTokensRepository } from './personal-tokens.repository';
import { PersonalTokensService } from './personal-tokens.service';

@Module({
  imports: [IamModule],
  providers: [
    AccessLookupsService,
    AccountService,
    LoginService,
    LoginLimiter,
    OwnPasswordService,
    PersonalTokensService,
    PersonalTokensRepository,
  ],
  controllers: [LoginController, AccountController, PersonalTokensController, AccessLookupsController],
})
export class IamApiModule {}
