import { createHash, createHmac, hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Config } from '../../../../config/config';
import { PermanentError } from '../../../../platform/background/workflows/workflow-definition';
import type { ClusterNode } from '../model/entities/cluster-node.entity';

const PURPOSE = 'bootstrap tokens of nodes';

export function agentTokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/**
 * The one-time tokens with which agents register. They are derived from the node, its attempt and a master key, so that
 * a repeated request is identical to the byte although no one stores the token.
 */
@Injectable()
export class BootstrapTokens {
  /** Keys in the order of the master keys: the first one derives new tokens. */
  private readonly keys: readonly Buffer[];

  constructor({ secrets }: Config) {
    this.keys = secrets.masterKeys.map(({ key }) => Buffer.from(hkdfSync('sha256', key, '', PURPOSE, 32)));
  }

  create(node: Pick<ClusterNode, 'token' | 'attempt'>): string {
    const [token] = this.candidates(node);
    if (token === undefined) throw new Error('There is no master key');
    return token;
  }

  /** Returns the token that was derived for the node, with any of the master keys. */
  recreate(
    node: Pick<ClusterNode, 'token' | 'attempt' | 'bootstrap_token' | 'bootstrap_token_hash' | 'node_number'>,
  ): string {
    if (node.bootstrap_token !== null) return node.bootstrap_token;
    const { bootstrap_token_hash: hash } = node;
    // A spent token means that the agent has registered, so the machine is only being looked up.
    if (hash === null) return this.create(node);
    const token = this.candidates(node).find((candidate) => agentTokenHash(candidate) === hash);
    if (token !== undefined) return token;
    throw new PermanentError(
      `Node ${node.node_number} was planned with a master key that is no longer in SECRETS_MASTER_KEYS.`,
    );
  }

  private candidates({ token, attempt }: Pick<ClusterNode, 'token' | 'attempt'>): string[] {
    return this.keys.map((key) => createHmac('sha256', key).update(`${token}/${attempt}`).digest('base64url'));
  }
}
