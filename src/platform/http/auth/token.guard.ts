import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import { TokenExpiredError } from 'jsonwebtoken';
import { unauthenticated } from '../../kernel/errors/domain-error';
import { OPERATION_METADATA, type OperationOptions } from '../operation-options';
import { isForUsers } from '../../kernel/auth/access';
import { basicToken, bearerToken, cookieToken } from './presented-token';
import type { AuthenticatedRequest } from './request-principal';

/** Names of the Passport strategies that the domain `iam` registers. */
export const TOKEN_STRATEGIES = ['jwt', 'basic', 'cookie'] as const;

export const TOKEN_EXPIRED = 'The token has expired. Log in again.';

/**
 * Verifies the token of a request that only users may send, by Passport, and sets its claims on the request. The AccessGuard,
 * which runs next, checks that their session still exists and that the caller has access.
 */
@Injectable()
export class TokenGuard extends AuthGuard([...TOKEN_STRATEGIES]) {
  constructor(private readonly reflector: Reflector) {
    super();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const operation = this.reflector.get<OperationOptions | undefined>(OPERATION_METADATA, context.getHandler());
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    request.operation = operation;
    if (operation && isForUsers(operation.access)) await super.canActivate(context);
    return true;
  }

  override getAuthenticateOptions(): { session: false; property: keyof AuthenticatedRequest } {
    return { session: false, property: 'claims' };
  }

  /** @param reasons errors of the strategies, in their order */
  override handleRequest<Claims>(
    error: Error | null,
    claims: Claims | false,
    reasons: unknown,
    context: ExecutionContext,
  ): Claims {
    if (error) throw error;
    if (claims) return claims;
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const presented = [bearerToken, basicToken, cookieToken].some((tokenOf) => tokenOf(request) !== null);
    if (!presented) throw unauthenticated('A bearer token is required.');
    const isExpired = [reasons].flat().some((reason) => reason instanceof TokenExpiredError);
    throw unauthenticated(isExpired ? TOKEN_EXPIRED : 'The token is not valid.');
  }
}
