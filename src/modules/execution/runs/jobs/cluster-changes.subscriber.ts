import { Injectable } from '@nestjs/common';
import { enqueue } from '../../../../platform/background/outbox/outbox';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { ClusterSubscriber, type ClusterTransitioned, GIVES_SLOTS, type NodeBecameReady } from '../../clusters';

/** States in which a cluster operation ends, so that waiting runs can be placed or ended. */
const SCHEDULED_IN: readonly string[] = ['RUNNING', 'STOPPED', 'DESTROYED', 'ERROR'];

/** Enqueues scheduling of a cluster's waiting runs when the cluster has changed; the worker runs it after the commit. */
@Injectable()
export class ClusterChangesSubscriber extends ClusterSubscriber {
  readonly domain = 'runs';
  readonly on = {
    clusterTransitioned: async (tx: Tx, { clusterId, from, to }: ClusterTransitioned) => {
      // A new cluster, or one that is recreated after it was destroyed, has no waiting runs.
      if (from === null || from === 'DESTROYED' || !SCHEDULED_IN.includes(to)) return;
      await this.enqueueScheduling(tx, clusterId);
    },
    // The node was added or has restarted, so it has slots for waiting runs.
    nodeBecameReady: async (tx: Tx, { node, clusterStatus }: NodeBecameReady) => {
      if (GIVES_SLOTS.includes(clusterStatus)) await this.enqueueScheduling(tx, node.cluster_id);
    },
  };

  private enqueueScheduling(tx: Tx, clusterId: number): Promise<void> {
    return enqueue(tx, 'job.dispatch', { cluster_id: clusterId });
  }
}
