import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../platform/kernel/persistence/sql';
import { ClusterSubscriber, type NodeTransitioned } from '../clusters';
import { LedgerRepository } from './ledger.repository';

/** Books the time of nodes in RUNNING, in the transactions in which they enter and leave it. */
@Injectable()
export class LedgerSubscriber extends ClusterSubscriber {
  readonly domain = 'billing';
  readonly on = {
    nodeTransitioned: async (tx: Tx, { nodeId, stateId, from, to }: NodeTransitioned) => {
      if (from === 'RUNNING') await this.ledger.close(tx, nodeId, stateId);
      if (to === 'RUNNING') await this.ledger.open(tx, stateId);
    },
  };

  constructor(private readonly ledger: LedgerRepository) {
    super();
  }
}
