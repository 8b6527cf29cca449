import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { forbidden, unauthenticated } from '../errors/domain-error';
import type { OperationOptions } from '../http/operation';
import type { Principal, TenantScope, WorkspaceContext } from './principal';

/** What the guards leave on a request. */
export interface AuthenticatedRequest extends Request {
  operation?: OperationOptions;
  principal?: Principal;
  workspace?: WorkspaceContext;
}

export function tenantNotSelected(): Error {
  return forbidden(
    'TENANT.NOT_SELECTED',
    'No tenant is selected. Call POST /user/select/{tenant_id} with one of GET /user/tenants first.',
  );
}

function requestOf(context: ExecutionContext): AuthenticatedRequest {
  return context.switchToHttp().getRequest<AuthenticatedRequest>();
}

/** The caller. */
export const CurrentPrincipal = createParamDecorator((_: unknown, context: ExecutionContext): Principal => {
  const principal = requestOf(context).principal;
  if (!principal) throw unauthenticated('A bearer token is required.');
  return principal;
});

/** The caller within the selected tenant; 403 when none is selected. */
export const CurrentScope = createParamDecorator((_: unknown, context: ExecutionContext): TenantScope => {
  const principal = requestOf(context).principal;
  if (!principal) throw unauthenticated('A bearer token is required.');
  if (principal.tenantId === null) throw tenantNotSelected();
  return { tenantId: principal.tenantId, userId: principal.userId, username: principal.username };
});

/** The workspace that path or query names, admitted by the guard. */
export const CurrentWorkspace = createParamDecorator((_: unknown, context: ExecutionContext): WorkspaceContext => {
  const workspace = requestOf(context).workspace;
  if (!workspace) throw new Error('The operation does not declare a workspace permission');
  return workspace;
});
