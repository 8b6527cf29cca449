import { Injectable } from '@nestjs/common';
import { enqueue } from '../../../../platform/background/outbox/outbox';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { ClusterSubscriber, type ClusterTransitioned, GIVES_SLOTS, type NodeBecameReady } from '../../clusters';

/** States in which operations end: waiting runs then get a node, or end. */
const SCHEDULED_IN: readonly string[] = ['RUNNING', 'STOPPED', 'DESTROYED', 'ERROR'];

/** Has the waiting runs of a cluster scheduled, by the worker and after the commit, when the cluster has changed. */
@Injectable()
export class ClusterChangesSubscriber extends ClusterSubscriber {
  readonly domain = 'runs';
  readonly on = {
    clusterTransitioned: async (tx: Tx, { clusterId, from, to }: ClusterTransitioned) => {
      // No run waits for a cluster that is new, or comes back after it was destroyed.
      if (from === null || from === 'DESTROYED' || !SCHEDULED_IN.includes(to)) return;
      await this.schedule(tx, clusterId);
    },
    // Added, or back after a restart: runs may have been waiting for it.
    nodeBecameReady: async (tx: Tx, { node, clusterStatus }: NodeBecameReady) => {
      if (GIVES_SLOTS.includes(clusterStatus)) await this.schedule(tx, node.cluster_id);
    },
  };

  private schedule(tx: Tx, clusterId: number): Promise<void> {
    return enqueue(tx, 'job.dispatch', { cluster_id: clusterId });
  }
}
