import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { forbidden, unauthenticated } from '../../kernel/errors/domain-error';
import type { Fault } from '../../kernel/errors/error-response';
import type { OperationOptions } from '../operation-options';
import type { TokenClaims } from './authentication';
import type {
  AuthenticatedNode,
  Principal,
  TenantScope,
  WorkspaceContext,
  WorkspaceScope,
} from '../../kernel/auth/principal';

/** The caller of a request: a user, or a node by its agent. */
export interface Caller {
  kind: 'user' | 'node';
  id: number;
}

/** A request with the properties that the guards and the error filter set. */
export interface AuthenticatedRequest extends Request {
  operation?: OperationOptions;
  /** Absent until a guard has identified the caller, and if the operation requires none. */
  caller?: Caller;
  /** The claims of the user's token. The TokenGuard has verified them, but not that their session still exists. */
  claims?: TokenClaims;
  principal?: Principal;
  node?: AuthenticatedNode;
  workspace?: WorkspaceContext;
  fault?: Fault | null;
}

export function tenantNotSelected(): Error {
  return forbidden(
    'TENANT.NOT_SELECTED',
    'No tenant is selected. Select one of GET /user/tenants with POST /user/select/{tenant_id}.',
  );
}

function requestOf(context: ExecutionContext): AuthenticatedRequest {
  return context.switchToHttp().getRequest<AuthenticatedRequest>();
}

function principalOf(context: ExecutionContext): Principal {
  const principal = requestOf(context).principal;
  if (!principal) throw unauthenticated('A bearer token is required.');
  return principal;
}

function selectedTenantOf({ tenantId }: Principal): string {
  if (tenantId === null) throw tenantNotSelected();
  return tenantId;
}

function scopeOf(context: ExecutionContext): TenantScope {
  const principal = principalOf(context);
  return { tenantId: selectedTenantOf(principal), userId: principal.userId, username: principal.username };
}

function workspaceOf(context: ExecutionContext): WorkspaceContext {
  const workspace = requestOf(context).workspace;
  if (!workspace) throw new Error('The operation does not declare a workspace permission');
  return workspace;
}

export const CurrentPrincipal = createParamDecorator((_: unknown, context: ExecutionContext): Principal =>
  principalOf(context),
);

/** The caller within the selected tenant; 403 if none is selected. */
export const CurrentScope = createParamDecorator((_: unknown, context: ExecutionContext): TenantScope =>
  scopeOf(context),
);

/** The id of the selected tenant; 403 if none is selected. */
export const CurrentTenantId = createParamDecorator((_: unknown, context: ExecutionContext): string =>
  selectedTenantOf(principalOf(context)),
);

/** The caller within the workspace of path or query, to which the guard has admitted the caller. */
export const InWorkspace = createParamDecorator((_: unknown, context: ExecutionContext): WorkspaceScope => ({
  ...scopeOf(context),
  workspace: workspaceOf(context),
}));

/** The workspace that the request names, to which the guard has admitted the caller; null for an operation about all of them. */
export const WorkspaceIfNamed = createParamDecorator(
  (_: unknown, context: ExecutionContext): WorkspaceContext | null => requestOf(context).workspace ?? null,
);
