import { type CanActivate, type ExecutionContext, Inject, Injectable, Optional } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { forbidden, invalid } from '../errors/domain-error';
import { noteCaller } from '../http/connections/request-caller';
import { OPERATION_METADATA, type OperationOptions } from '../http/operation-options';
import { type Access, admittedRoles } from './access';
import {
  AUTHENTICATOR,
  type Authenticator,
  NODE_AUTHENTICATOR,
  type NodeAuthenticator,
  WORKSPACE_AUTHORIZER,
  type WorkspaceAuthorizer,
} from './authentication';
import type { AuthenticatedNode, Principal } from './principal';
import { type AuthenticatedRequest, tenantNotSelected } from './request-principal';
import { PLATFORM_ROLES, type Role } from './roles';

/** Enforces the access that an operation declares; a route without a declaration is refused. */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(WORKSPACE_AUTHORIZER) private readonly workspaces: WorkspaceAuthorizer,
    // Absent in a process that does not serve agents.
    @Optional() @Inject(NODE_AUTHENTICATOR) private readonly nodes?: NodeAuthenticator,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const operation = this.reflector.get<OperationOptions | undefined>(OPERATION_METADATA, context.getHandler());
    if (!operation) throw forbidden('AUTH.UNDECLARED', 'This route declares no authorization.');
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    request.operation = operation;
    await this.admit(request, operation.access);
    return true;
  }

  private async admit(request: AuthenticatedRequest, access: Access): Promise<void> {
    switch (access.kind) {
      case 'public':
        return;
      case 'node':
        admitNode(request, await this.nodeAuthenticator().authenticate(request));
        return;
      case 'bootstrap':
        admitNode(request, await this.nodeAuthenticator().authenticateBootstrap(request));
        return;
      case 'signed-in':
        await this.authenticate(request);
        return;
      case 'platform': {
        const principal = await this.authenticate(request);
        // The role may be one that the caller holds in a tenant: say how to use it.
        if (principal.tenantId === null && !holdsOne(principal, access.roles) && !access.roles.every(isPlatformRole)) {
          throw tenantNotSelected();
        }
        requireRole(principal, admittedRoles(access));
        return;
      }
      case 'tenant': {
        const principal = await this.authenticate(request);
        assertTenant(principal);
        requireRole(principal, admittedRoles(access));
        return;
      }
      case 'workspace': {
        const principal = await this.authenticate(request);
        assertTenant(principal);
        // A permission alone admits nobody: it may have outlived the last role in the tenant.
        requireRole(principal, admittedRoles(access));
        request.workspace = await this.workspaces.authorize(principal, workspaceSelector(request), access.permission);
      }
    }
  }

  private nodeAuthenticator(): NodeAuthenticator {
    if (!this.nodes) throw new Error('An operation of node agents is served where nobody knows nodes');
    return this.nodes;
  }

  private async authenticate(request: AuthenticatedRequest): Promise<Principal> {
    const principal = await this.authenticator.authenticate(request);
    request.principal = principal;
    noteCaller(request, { kind: 'user', id: principal.userId });
    return principal;
  }
}

function admitNode(request: AuthenticatedRequest, node: AuthenticatedNode): void {
  request.node = node;
  noteCaller(request, { kind: 'node', id: node.node_id });
}

function assertTenant(principal: Principal): asserts principal is Principal & { tenantId: string } {
  if (principal.tenantId === null) throw tenantNotSelected();
}

function holdsOne(principal: Principal, roles: readonly Role[]): boolean {
  return roles.some((role) => principal.roles.has(role));
}

function isPlatformRole(role: Role): boolean {
  return PLATFORM_ROLES.includes(role);
}

function requireRole(principal: Principal, roles: readonly Role[]): void {
  if (holdsOne(principal, roles)) return;
  throw forbidden('AUTH.ROLE_REQUIRED', `This operation needs one of the roles ${roles.join(', ')}.`, { roles });
}

/** The guard runs before validation, so it reads the raw path and query with care. */
function workspaceSelector(request: AuthenticatedRequest): { id?: number; name?: string } {
  const inPath = request.params['workspace_id'];
  const id = inPath ?? request.query['workspace_id'];
  const name = inPath === undefined ? request.query['workspace_name'] : undefined;
  if (id !== undefined && (typeof id !== 'string' || !/^\d{1,15}$/.test(id))) {
    throw invalid('REQUEST.INVALID', 'workspace_id must be an integer.', { workspace_id: id });
  }
  if (name !== undefined && typeof name !== 'string')
    throw invalid('REQUEST.INVALID', 'workspace_name must be given once.');
  if (id === undefined && name === undefined) {
    throw invalid('REQUEST.SELECTOR_MISSING', 'One of workspace_id or workspace_name is required.');
  }
  return { ...(id === undefined ? {} : { id: Number(id) }), ...(name === undefined ? {} : { name }) };
}
