import { Body, Controller, Req } from '@nestjs/common';
import { ApiBasicAuth } from '@nestjs/swagger';
import type { Request } from 'express';
import { Allow } from '../../platform/auth/access';
import type { Principal } from '../../platform/auth/principal';
import { CurrentPrincipal } from '../../platform/auth/request-principal';
import type { Message } from '../../platform/http/answers';
import { Answers, Operation } from '../../platform/http/operation';
import { AuthTypeAnswer, LoginRequest, LoginResult } from './dto/login.dto';
import { type LoginOrigin, LoginService } from './login.service';

@Controller()
export class LoginController {
  constructor(private readonly service: LoginService) {}

  @Operation({
    method: 'GET',
    path: '/login/auth_type',
    id: 'getAuthType',
    summary: 'Tell how users log in',
    tag: 'Login',
    access: Allow.everyone,
    answer: Answers.one(AuthTypeAnswer),
  })
  getAuthType(): AuthTypeAnswer {
    return this.service.authType();
  }

  @Operation({
    method: 'POST',
    path: '/login',
    id: 'login',
    summary: 'Log in and get a token',
    tag: 'Login',
    access: Allow.everyone,
    answer: Answers.one(LoginResult),
    errors: [403, 429],
    opensSession: true,
  })
  @ApiBasicAuth('basicAuth')
  login(@Body() body: LoginRequest, @Req() request: Request): Promise<LoginResult> {
    return this.service.login(body, originOf(request));
  }

  @Operation({
    method: 'POST',
    path: '/logout',
    id: 'logout',
    summary: 'End the session of the token at once',
    tag: 'Login',
    access: Allow.signedIn,
    answer: Answers.message,
  })
  logout(@CurrentPrincipal() principal: Principal): Promise<Message> {
    return this.service.logout(principal);
  }
}

function originOf(request: Request): LoginOrigin {
  return {
    authorization: request.get('authorization') ?? null,
    ip: request.ip ?? 'unknown',
    userAgent: request.get('user-agent')?.slice(0, 500) ?? null,
  };
}
