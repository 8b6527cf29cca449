import type { Request } from 'express';
import type { DomainError } from '../../kernel/errors/domain-error';
import type { AuthenticatedNode, Principal, WorkspaceContext } from '../../kernel/auth/principal';
import type { WorkspacePermission } from '../../kernel/auth/roles';

/** The claims of a user's token whose signature has been verified. */
export interface TokenClaims {
  userId: number;
  sessionId: string;
  /** Seconds since 1970 from which the token is no longer valid; absent for one without end. */
  exp?: number;
  /** SHA-256 of the token, hex: the session knows the one that was given out for it. */
  tokenHash: string;
  /** The user whom HTTP Basic names beside the token. */
  username?: string;
}

/** Injection token of {@link Authenticator}, which the domain `iam` provides. */
export const AUTHENTICATOR = Symbol('AUTHENTICATOR');

/** Finds the caller behind verified claims; throws an `unauthenticated` error if there is none. */
export interface Authenticator {
  authenticate(claims: TokenClaims): Promise<Principal>;
  /** Rereads callers, all at once. Returns for each the caller, or why there is none any longer. */
  reauthenticate(claims: readonly TokenClaims[]): Promise<(Principal | DomainError)[]>;
}

/** Injection token of {@link NodeAuthenticator}, which the domain `agents` provides where agents are served. */
export const NODE_AUTHENTICATOR = Symbol('NODE_AUTHENTICATOR');

/** Finds the node behind a request's bearer token; throws an `unauthenticated` error otherwise. */
export interface NodeAuthenticator {
  /** By the token of the node; a `gone` error for that of a destroyed one. */
  authenticate(request: Request): Promise<AuthenticatedNode>;
  /** By its bootstrap token, which this does not spend. */
  authenticateBootstrap(request: Request): Promise<AuthenticatedNode>;
  /** Rereads the nodes of requests, all at once: for each the node, or why there is none any longer. */
  reauthenticate(requests: readonly Request[]): Promise<(AuthenticatedNode | DomainError)[]>;
}

/** Injection token of {@link WorkspaceAuthorizer}, which the domain `workspaces` provides. */
export const WORKSPACE_AUTHORIZER = Symbol('WORKSPACE_AUTHORIZER');

/** Admits a caller to the workspace that a request names, or throws 404 or 403. */
export interface WorkspaceAuthorizer {
  authorize(
    principal: Principal & { tenantId: string },
    selector: { id?: number; name?: string },
    needed: WorkspacePermission,
  ): Promise<WorkspaceContext>;
  /** Rechecks callers in workspaces, all at once: for each the workspace, or why there is none any longer. */
  reauthorize(entries: readonly WorkspaceEntry[]): Promise<(WorkspaceContext | DomainError)[]>;
}

/** A caller who has been admitted to a workspace. */
export interface WorkspaceEntry {
  principal: Principal;
  workspaceId: number;
  needed: WorkspacePermission;
}
