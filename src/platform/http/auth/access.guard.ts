import { type CanActivate, type ExecutionContext, Inject, Injectable, Optional } from '@nestjs/common';
import { type ContextCaller, currentContext } from '../../kernel/context/request-context';
import { DomainError, forbidden, invalid, orRefusal, unauthenticated } from '../../kernel/errors/domain-error';
import { setCaller } from '../connections/request-caller';
import { type Access, admittedRoles } from '../../kernel/auth/access';
import {
  AUTHENTICATOR,
  type Authenticator,
  NODE_AUTHENTICATOR,
  type NodeAuthenticator,
  type TokenClaims,
  WORKSPACE_AUTHORIZER,
  type WorkspaceAuthorizer,
  type WorkspaceEntry,
} from './authentication';
import { type AccessChecker, LiveAccess } from './live-access';
import type { AuthenticatedNode, Principal, WorkspaceContext } from '../../kernel/auth/principal';
import { type AuthenticatedRequest, tenantNotSelected } from './request-principal';
import { PLATFORM_ROLES, type Role } from '../../kernel/auth/roles';

/**
 * Enforces the access that an operation declares, when its request begins and as long as it is open. A route without a
 * declaration is refused. The TokenGuard runs before this guard.
 */
@Injectable()
export class AccessGuard implements CanActivate, AccessChecker {
  constructor(
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(WORKSPACE_AUTHORIZER) private readonly workspaces: WorkspaceAuthorizer,
    live: LiveAccess,
    // Absent in a process that does not serve agents.
    @Optional() @Inject(NODE_AUTHENTICATOR) private readonly nodes?: NodeAuthenticator,
  ) {
    live.setChecker(this);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    if (!request.operation)
      throw forbidden('AUTH.UNDECLARED', 'This operation declares no authorization, so nobody may call it.');
    await this.admit(request, request.operation.access);
    return true;
  }

  /** Repeats the check for admitted requests. It rereads each caller once. */
  async recheck(requests: readonly AuthenticatedRequest[]): Promise<(DomainError | null)[]> {
    const userRequests = requests.filter(({ principal }) => principal);
    const nodeRequests = requests.filter(({ node }) => node);
    const principals = await callersByToken(userRequests, (some) =>
      this.authenticator.reauthenticate(some.map(claimsOf)),
    );
    const nodes = await callersByToken(nodeRequests, (some) => this.nodeAuthenticator().reauthenticate(some));
    const refusals = requests.map((request) => {
      const found = (request.node ? nodes : principals).get(tokenOf(request));
      if (found === undefined) return unauthenticated('The token is no longer valid. Log in again.');
      if (found instanceof DomainError) return found;
      return 'userId' in found ? refusalOf(request, found) : null;
    });
    const workspaces = await this.recheckWorkspaces(requests, principals);
    return requests.map((request, index) => refusals[index] ?? workspaces.get(request) ?? null);
  }

  private async recheckWorkspaces(
    requests: readonly AuthenticatedRequest[],
    principals: ReadonlyMap<string, Principal | DomainError>,
  ): Promise<Map<AuthenticatedRequest, DomainError>> {
    const entries = new Map<string, { entry: WorkspaceEntry; requests: AuthenticatedRequest[] }>();
    for (const request of requests) {
      const { workspace, operation } = request;
      const principal = principals.get(tokenOf(request));
      if (operation?.access.kind !== 'workspace' || !workspace) continue;
      if (!principal || principal instanceof DomainError) continue;
      const { permission: needed } = operation.access;
      const { workspaceId } = workspace;
      const key = `${tokenOf(request)} ${workspaceId} ${needed}`;
      const same = entries.get(key) ?? { entry: { principal, workspaceId, needed }, requests: [] };
      same.requests.push(request);
      entries.set(key, same);
    }
    const refusals = new Map<AuthenticatedRequest, DomainError>();
    if (entries.size === 0) return refusals;
    const results = await this.workspaces.reauthorize([...entries.values()].map(({ entry }) => entry));
    [...entries.values()].forEach(({ requests: same }, index) => {
      const found = results[index];
      for (const request of same) {
        if (found instanceof DomainError) refusals.set(request, found);
        // A disabled workspace may be read, but requests that began before it was disabled end.
        else if (found && !found.active && request.workspace?.active) refusals.set(request, disabled(found));
      }
    });
    return refusals;
  }

  private async admit(request: AuthenticatedRequest, access: Access): Promise<void> {
    switch (access.kind) {
      case 'public':
      case 'machine':
        return;
      case 'node':
        admitNode(request, await this.nodeAuthenticator().authenticate(request));
        return;
      case 'bootstrap':
        admitNode(request, await this.nodeAuthenticator().authenticateBootstrap(request));
        return;
      case 'signed-in':
      case 'platform':
      case 'tenant':
        assertAdmits(access, await this.authenticate(request));
        return;
      case 'workspace': {
        const principal = await this.authenticate(request);
        assertAdmits(access, principal);
        assertTenant(principal);
        const selector = workspaceSelector(request);
        if (selector) request.workspace = await this.workspaces.authorize(principal, selector, access.permission);
        else if (!access.optional) throw workspaceNotNamed();
      }
    }
  }

  private nodeAuthenticator(): NodeAuthenticator {
    if (!this.nodes) throw new Error('This process serves an operation of node agents but has no NodeAuthenticator');
    return this.nodes;
  }

  private async authenticate(request: AuthenticatedRequest): Promise<Principal> {
    const principal = await this.authenticator.authenticate(claimsOf(request));
    request.principal = principal;
    setCaller(request, { kind: 'user', id: principal.userId });
    setContextCaller({ kind: 'user', id: principal.userId, tenantId: principal.tenantId });
    return principal;
  }
}

/** Throws if the caller lacks a role, or has not selected a tenant. */
function assertAdmits(access: Access, principal: Principal): void {
  if (access.kind === 'signed-in') return;
  if (access.kind !== 'platform') {
    assertTenant(principal);
  } else if (principal.tenantId === null && !holdsOne(principal, access.roles) && !access.roles.every(isPlatformRole)) {
    // The caller may hold the role in a tenant, so the error says how to select one.
    throw tenantNotSelected();
  }
  // A permission on a workspace is not enough, because it may outlive the caller's last role in the tenant.
  requireRole(principal, admittedRoles(access));
}

/** Returns why the reread caller would not be admitted, or null. A request that began in one tenant must not continue in another. */
function refusalOf({ operation, principal: before }: AuthenticatedRequest, principal: Principal): DomainError | null {
  const access = operation?.access;
  if (!access || !before) return null;
  if (principal.tenantId !== before.tenantId) {
    return forbidden(
      'TENANT.CHANGED',
      'The session has selected another tenant than the one in which this request began.',
    );
  }
  return orRefusal(() => assertAdmits(access, principal)) ?? null;
}

/** Finds callers by their tokens, so that many requests of one caller need one check. */
async function callersByToken<T>(
  requests: readonly AuthenticatedRequest[],
  find: (requests: readonly AuthenticatedRequest[]) => Promise<(T | DomainError)[]>,
): Promise<Map<string, T | DomainError>> {
  const byToken = new Map(requests.map((request) => [tokenOf(request), request]));
  if (byToken.size === 0) return new Map();
  const found = await find([...byToken.values()]);
  return new Map(
    [...byToken.keys()].flatMap((token, index) => {
      const caller = found[index];
      return caller === undefined ? [] : [[token, caller] as const];
    }),
  );
}

/** Returns the claims that the TokenGuard set on the request. */
function claimsOf({ claims }: AuthenticatedRequest): TokenClaims {
  if (!claims) throw unauthenticated('A bearer token is required.');
  return claims;
}

/** Names the token of a request, and the user of HTTP Basic, for whom the token may be refused. The header of a node has its token. */
function tokenOf({ claims, headers }: AuthenticatedRequest): string {
  return claims ? `${claims.tokenHash} ${claims.username ?? ''}` : (headers.authorization ?? '');
}

function disabled({ name }: WorkspaceContext): DomainError {
  return forbidden('WORKSPACE.DISABLED', `The workspace "${name}" was disabled.`);
}

function admitNode(request: AuthenticatedRequest, node: AuthenticatedNode): void {
  request.node = node;
  setCaller(request, { kind: 'node', id: node.node_id });
  setContextCaller({ kind: 'node', id: node.node_id, tenantId: node.tenant_id });
}

/** Charges the database connections of the request to its caller from now on. */
function setContextCaller(caller: ContextCaller): void {
  const context = currentContext();
  if (context) context.caller = caller;
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

function workspaceNotNamed(): DomainError {
  return invalid('REQUEST.SELECTOR_MISSING', 'One of workspace_id or workspace_name is required.');
}

/** Returns the workspace that a request names, if any. The guard runs before validation, so it checks the raw path and query. */
function workspaceSelector(request: AuthenticatedRequest): { id?: number; name?: string } | null {
  const inPath = request.params['workspace_id'];
  const id = inPath ?? request.query['workspace_id'];
  const name = inPath === undefined ? request.query['workspace_name'] : undefined;
  if (id !== undefined && (typeof id !== 'string' || !/^\d{1,15}$/.test(id))) {
    throw invalid('REQUEST.INVALID', 'workspace_id must be an integer.', { workspace_id: id });
  }
  if (name !== undefined && typeof name !== 'string')
    throw invalid('REQUEST.INVALID', 'workspace_name must occur only once.');
  if (id === undefined && name === undefined) return null;
  return { ...(id === undefined ? {} : { id: Number(id) }), ...(name === undefined ? {} : { name }) };
}
