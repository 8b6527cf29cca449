import { ClusterNodesRepository } from '../../../src/modules/execution/clusters/model/cluster-nodes.repository';
import { ClusterRowsRepository } from '../../../src/modules/execution/clusters/model/cluster-rows.repository';
import type { ClusterStatus, NodeStatus } from '../../../src/modules/execution/clusters/model/cluster-state';
import { type Db, inTransaction } from '../../../src/platform/kernel/persistence/sql';

/** The cause that the history records for changes made by a test. */
const CAUSE = { reason: 'As a test has it', userId: null };

/** Puts a cluster into a status, whatever it was in, with the entry in its history. */
export async function setClusterStatus(db: Db, clusterId: number, to: ClusterStatus): Promise<void> {
  const clusters = new ClusterRowsRepository(db.connection);
  await inTransaction(db, async (own) => {
    const cluster = await clusters.lock(own, clusterId);
    if (!cluster) throw new Error(`There is no cluster ${clusterId}`);
    const { status: from } = cluster;
    if (from === to) return;
    const node_count = await clusters.setStatus(own, cluster, to, null);
    await clusters.appendState(own, clusterId, { from, to, ...CAUSE, extra: { node_count } });
  });
}

/** The same for a node. */
export async function setNodeStatus(db: Db, nodeId: number, to: NodeStatus): Promise<void> {
  const nodes = new ClusterNodesRepository(db.connection);
  await inTransaction(db, async (own) => {
    const node = await nodes.get(nodeId, own, true);
    if (!node) throw new Error(`There is no node ${nodeId}`);
    const { status: from } = node;
    if (from === to) return;
    await nodes.setStatus(own, nodeId, to);
    await nodes.appendState(own, node, { from, to, ...CAUSE, workflowInstanceId: null, step: null });
  });
}
