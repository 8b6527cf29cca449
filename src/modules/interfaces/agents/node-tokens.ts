import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { NodeAuthenticator } from '../../../platform/http/auth/authentication';
import { type DomainError, unauthenticated } from '../../../platform/kernel/errors/domain-error';
import { type ClusterNode, ClusterNodesService } from '../../execution/clusters';

/** Returns the bearer token of an authorization header; throws a 401 if there is none. */
export function bearerToken(header: string | undefined): string {
  const token = /^Bearer (\S+)$/i.exec(header ?? '')?.[1];
  if (token === undefined) throw unauthenticated('A bearer token is required.');
  return token;
}

/** Authenticates nodes by the bearer tokens of their agents. */
@Injectable()
export class NodeTokens implements NodeAuthenticator {
  constructor(private readonly nodes: ClusterNodesService) {}

  authenticate(request: Request): Promise<ClusterNode> {
    return this.nodes.authenticate(tokenOf(request));
  }

  reauthenticate(requests: readonly Request[]): Promise<(ClusterNode | DomainError)[]> {
    return this.nodes.authenticateAll(requests.map(tokenOf));
  }

  authenticateBootstrap(request: Request): Promise<ClusterNode> {
    return this.nodes.authenticateBootstrap(tokenOf(request));
  }
}

function tokenOf(request: Request): string {
  return bearerToken(request.get('authorization'));
}
