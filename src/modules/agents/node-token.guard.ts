import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { AuthenticatedRequest } from '../../platform/auth/request-principal';
import { unauthenticated } from '../../platform/errors/domain-error';
import { noteCaller } from '../../platform/http/connections/request-caller';
import { ClusterNodesService } from '../clusters/cluster-nodes.service';
import type { ClusterNode } from '../clusters/clusters.contract';

export interface NodeRequest extends AuthenticatedRequest {
  node?: ClusterNode;
}

/** Bearer token of an authorization header; 401 without one. */
export function bearerToken(header: string | undefined): string {
  const token = /^Bearer (\S+)$/i.exec(header ?? '')?.[1];
  if (token === undefined) throw unauthenticated('A bearer token is required.');
  return token;
}

/** Admits a node agent by its node token. */
@Injectable()
export class NodeTokenGuard implements CanActivate {
  constructor(private readonly nodes: ClusterNodesService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<NodeRequest>();
    const node = await this.nodes.authenticate(bearerToken(request.get('authorization')));
    request.node = node;
    noteCaller(request, { kind: 'node', id: node.node_id });
    return true;
  }
}
