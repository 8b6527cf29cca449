import type { Request } from 'express';
import type { DomainError } from '../../kernel/errors/domain-error';
import type { AuthenticatedNode, Principal, WorkspaceContext } from '../../kernel/auth/principal';
import type { WorkspacePermission } from '../../kernel/auth/roles';

/** The claims of a user's token whose signature has been verified. */
export interface TokenClaims {
  userId: number;
  sessionId: string;
  /** Expiry of the token in seconds since 1970; absent if it does not expire. */
  exp?: number;
  /** SHA-256 of the token in hex, which must equal that of the session. */
  tokenHash: string;
  /** The user name of HTTP Basic. */
  username?: string;
}

/** Injection token of {@link Authenticator}, which the domain `iam` provides. */
export const AUTHENTICATOR = Symbol('AUTHENTICATOR');

/** Finds the caller of verified claims. Throws an `unauthenticated` error if there is none. */
export interface Authenticator {
  authenticate(claims: TokenClaims): Promise<Principal>;
  /** Rereads all callers at once. Returns for each the caller, or the error that ends its requests. */
  reauthenticate(claims: readonly TokenClaims[]): Promise<(Principal | DomainError)[]>;
}

/** Injection token of {@link NodeAuthenticator}, which the domain `agents` provides in processes that serve agents. */
export const NODE_AUTHENTICATOR = Symbol('NODE_AUTHENTICATOR');

/** Finds the node of a request's bearer token. Throws an `unauthenticated` error if there is none. */
export interface NodeAuthenticator {
  /** Finds the node by its token. Throws a `gone` error if the node is destroyed. */
  authenticate(request: Request): Promise<AuthenticatedNode>;
  /** Finds the node by its bootstrap token, without using it up. */
  authenticateBootstrap(request: Request): Promise<AuthenticatedNode>;
  /** Rereads the nodes of all requests at once. Returns for each the node, or the error that ends its requests. */
  reauthenticate(requests: readonly Request[]): Promise<(AuthenticatedNode | DomainError)[]>;
}

/** Injection token of {@link WorkspaceAuthorizer}, which the domain `workspaces` provides. */
export const WORKSPACE_AUTHORIZER = Symbol('WORKSPACE_AUTHORIZER');

/** Admits a caller to the workspace that a request names. Throws a 404 or a 403 otherwise. */
export interface WorkspaceAuthorizer {
  authorize(
    principal: Principal & { tenantId: string },
    selector: { id?: number; name?: string },
    needed: WorkspacePermission,
  ): Promise<WorkspaceContext>;
  /** Rechecks all callers in workspaces at once. Returns for each the workspace, or the error that ends its requests. */
  reauthorize(entries: readonly WorkspaceEntry[]): Promise<(WorkspaceContext | DomainError)[]>;
}

/** A caller who has been admitted to a workspace. */
export interface WorkspaceEntry {
  principal: Principal;
  workspaceId: number;
  needed: WorkspacePermission;
}
