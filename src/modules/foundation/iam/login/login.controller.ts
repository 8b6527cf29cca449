import { Body, Controller, Req, Res } from '@nestjs/common';
import { ApiBasicAuth, ApiBody, ApiQuery } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { CurrentPrincipal } from '../../../../platform/http/auth/request-principal';
import type { Message } from '../../../../platform/kernel/dto/response-fields';
import { clientNetwork } from '../../../../platform/http/client-network';
import { Responses, Operation } from '../../../../platform/http/operation';
import { AuthTypeAnswer, LoginRequest, LoginResult } from './dto/login.dto';
import { enterConsole, returnsToConsole } from '../../../../platform/http/auth/browser-session';
import type { LoginOrigin } from './login-sessions';
import { LoginService } from './login.service';
import { SsoLoginService } from './sso-login.service';

@Controller()
export class LoginController {
  constructor(
    private readonly service: LoginService,
    private readonly sso: SsoLoginService,
  ) {}

  @Operation({
    method: 'GET',
    path: '/login/auth_type',
    id: 'getAuthType',
    summary: 'Get the login type',
    description: 'Returns the login type of this deployment, by which a client decides whether to ask for a password.',
    tag: 'Login',
    access: Allow.everyone,
    response: Responses.one(AuthTypeAnswer),
  })
  getAuthType(): AuthTypeAnswer {
    return this.service.authType();
  }

  @Operation({
    method: 'POST',
    path: '/login',
    id: 'login',
    summary: 'Log in and get a token',
    description:
      'Checks user name and password, from the body or as HTTP Basic, and opens a session. A user who belongs to a single tenant has it selected; others call `selectTenant`. With AZURE_SSO and without a local account, it returns the loginURL instead. Too many failed attempts are refused with 429 for some time.',
    tag: 'Login',
    access: Allow.everyone,
    response: Responses.one(LoginResult),
    errors: [429],
    opensSession: true,
  })
  @ApiBasicAuth('basicAuth')
  // The body is empty with HTTP Basic, and if the provider asks for the password.
  @ApiBody({ required: false, type: LoginRequest })
  login(@Body() body: LoginRequest, @Req() request: Request): Promise<LoginResult> {
    return this.service.login(body, originOf(request));
  }

  @Operation({
    method: 'GET',
    path: '/login/sso/callback',
    id: 'completeSsoLogin',
    summary: 'Complete a login at the identity provider and get a token; it redirects browsers here',
    description:
      'The identity provider redirects the browser here after a login that `login` began. Opens the session and returns its token, which the user gives to the client.',
    tag: 'Login',
    access: Allow.everyone,
    response: Responses.one(LoginResult),
    opensSession: true,
    readsRawQuery: true,
  })
  @ApiQuery({
    name: 'code',
    required: true,
    type: String,
    description: 'From the provider; it sends error instead if the login failed',
  })
  @ApiQuery({ name: 'state', required: true, type: String, description: 'From the login URL' })
  async completeSsoLogin(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<LoginResult> {
    const query = queryOf(request);
    const opened = await this.sso.complete(query, originOf(request));
    return returnsToConsole(request, query) ? enterConsole(request, response, opened) : opened;
  }

  @Operation({
    method: 'POST',
    path: '/logout',
    id: 'logout',
    summary: 'End the session of the token at once',
    description:
      'Ends the session: from now on, requests with its token are refused with 401. A personal token that is presented here ends as well.',
    tag: 'Login',
    access: Allow.signedIn,
    response: Responses.message,
  })
  logout(@CurrentPrincipal() principal: Principal): Promise<Message> {
    return this.service.logout(principal);
  }
}

/** Returns the raw query: providers add parameters of their own, which must be verified with the others. */
function queryOf(request: Request): URLSearchParams {
  const [, query = ''] = request.originalUrl.split('?', 2);
  return new URLSearchParams(query);
}

export function originOf(request: Request): LoginOrigin {
  return {
    authorization: request.get('authorization') ?? null,
    ip: request.ip ?? 'unknown',
    network: clientNetwork(request.ip),
    userAgent: request.get('user-agent')?.slice(0, 500) ?? null,
  };
}
