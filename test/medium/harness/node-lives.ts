import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { ClusterLifecycle } from '../../../src/modules/execution/clusters/lifecycle/cluster-lifecycle';
import type { NodeStatus } from '../../../src/modules/execution/clusters/model/cluster-state';
import type { ClusterNode } from '../../../src/modules/execution/clusters/model/entities/cluster-node.entity';
import { REFERENCE } from '../../samples/reference';
import type { Tenancy } from './records';
import { inTransaction } from '../../../src/platform/kernel/persistence/sql';

const CAUSE = { reason: 'As a test has it', userId: null, workflowInstanceId: null };

/** The properties that decide the price of a node and of what is on it, as far as a test sets them. */
type Billed = Partial<
  Pick<ClusterNode, 'role' | 'memory_mb' | 'machine_type_id' | 'machine_price_ycu' | 'is_spot' | 'labels'>
>;

/** Plans nodes and moves them from state to state, as workflows do, without machines. */
export class NodeLives {
  private planned = 0;

  constructor(
    private readonly dataSource: DataSource,
    private readonly lifecycle: ClusterLifecycle,
  ) {}

  /** Plans a node of the cluster and returns its id. */
  async plan({ tenantId, clusterId }: Pick<Tenancy, 'tenantId' | 'clusterId'>, billed: Billed = {}): Promise<number> {
    this.planned += 1;
    const token = randomUUID();
    const values = {
      tenant_id: tenantId,
      cluster_id: clusterId,
      node_number: this.planned,
      role: 'single' as const,
      token,
      cores: 1,
      memory_mb: 1,
      machine_type_id: REFERENCE.machine_type_id,
      machine_price_ycu: 1,
      is_spot: false,
      labels: {},
      ...billed,
    };
    return inTransaction(this.dataSource, async (tx) => {
      await this.lifecycle.planNode(tx, values, CAUSE);
      const [node] = await tx.query<{ node_id: number }[]>('SELECT node_id FROM cluster_nodes WHERE token = $1', [
        token,
      ]);
      return node!.node_id;
    });
  }

  /** Moves a node; `before` runs in the transaction just before its commit. */
  async move(nodeId: number, to: NodeStatus, before: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    await inTransaction(this.dataSource, async (tx) => {
      const [node] = await tx.query<ClusterNode[]>('SELECT * FROM cluster_nodes WHERE node_id = $1 FOR UPDATE', [
        nodeId,
      ]);
      await this.lifecycle.transitionNode(tx, node!, { to, ...CAUSE });
      await before();
    });
  }
}
