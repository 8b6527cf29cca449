import { Body, Controller, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { clearCookie, hasConsoleHeader, isFromOwnPage } from '../../../../platform/http/auth/browser-cookies';
import { keepInBrowser } from '../../../../platform/http/auth/browser-session';
import { CurrentPrincipal } from '../../../../platform/http/auth/request-principal';
import { Operation, Responses } from '../../../../platform/http/operation';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import type { Message } from '../../../../platform/kernel/dto/response-fields';
import { forbidden } from '../../../../platform/kernel/errors/domain-error';
import { BrowserLogin, LoginResult } from './dto/login.dto';
import { originOf } from './login.controller';
import { LoginService } from './login.service';

/** A working day, so that nobody must log in again in the middle of one. */
const SESSION_DURATION = '12h';

const shared = { tag: 'Login', internal: true } as const;

/** Sessions of the console, whose token is in a cookie that scripts cannot read (ADR 0070). */
@Controller()
export class BrowserSessionController {
  constructor(private readonly service: LoginService) {}

  @Operation({
    ...shared,
    method: 'POST',
    path: '/browser/session',
    id: 'openBrowserSession',
    summary: 'Log in to the console',
    access: Allow.everyone,
    response: Responses.one(LoginResult),
    errors: [429],
    opensSession: true,
  })
  async open(
    @Body() body: BrowserLogin,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<LoginResult> {
    assertOwnPage(request);
    const origin = { ...originOf(request), authorization: null };
    return keepInBrowser(request, response, await this.service.login({ ...body, timeout: SESSION_DURATION }, origin));
  }

  @Operation({
    ...shared,
    method: 'DELETE',
    path: '/browser/session',
    id: 'closeBrowserSession',
    summary: 'Log out of the console',
    access: Allow.signedIn,
    response: Responses.message,
  })
  async close(
    @CurrentPrincipal() principal: Principal,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Message> {
    const message = await this.service.logout(principal);
    clearCookie(request, response, 'session');
    return message;
  }

  @Operation({
    ...shared,
    method: 'DELETE',
    path: '/browser/sessions',
    id: 'closeAllSessions',
    summary: 'Log out in all browsers and clients',
    access: Allow.signedIn,
    response: Responses.message,
  })
  async closeAll(
    @CurrentPrincipal() principal: Principal,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Message> {
    const message = await this.service.logoutEverywhere(principal);
    clearCookie(request, response, 'session');
    return message;
  }
}

/** Throws a 403 unless a page of this server asks: another one must not log its visitors in, even to an account of its own. */
function assertOwnPage(request: Request): void {
  if (isFromOwnPage(request) && hasConsoleHeader(request)) return;
  throw forbidden(
    'REQUEST.FOREIGN_ORIGIN',
    'Only the console of this server may open a session in a browser. Use login.',
  );
}
