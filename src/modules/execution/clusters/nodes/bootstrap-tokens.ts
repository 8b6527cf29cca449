import { createHash, createHmac, hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Config } from '../../../../config/config';
import { PermanentError } from '../../../../platform/background/workflows/workflow-definition';
import type { ClusterNode } from '../model/entities/cluster-node.entity';

const PURPOSE = 'bootstrap tokens of nodes';

/** What the database keeps of a token of an agent. */
export function agentTokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/**
 * The one-time tokens that agents register with. They follow from the node, its attempt and a master key, so that a
 * request which is repeated is the same to the byte although nobody keeps the token.
 */
@Injectable()
export class BootstrapTokens {
  /** In the order of the master keys: the first makes new tokens. */
  private readonly keys: readonly Buffer[];

  constructor({ secrets }: Config) {
    this.keys = secrets.masterKeys.map(({ key }) => Buffer.from(hkdfSync('sha256', key, '', PURPOSE, 32)));
  }

  /** That of a new attempt. */
  make(node: Pick<ClusterNode, 'token' | 'attempt'>): string {
    const [token] = this.candidates(node);
    if (token === undefined) throw new Error('There is no master key');
    return token;
  }

  /** That which was made for the node, with whichever master key. */
  again(
    node: Pick<ClusterNode, 'token' | 'attempt' | 'bootstrap_token' | 'bootstrap_token_hash' | 'node_number'>,
  ): string {
    if (node.bootstrap_token !== null) return node.bootstrap_token;
    const { bootstrap_token_hash: hash } = node;
    // Spent: its agent has registered, so that the machine is only being looked for.
    if (hash === null) return this.make(node);
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
