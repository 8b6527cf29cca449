import type { NodeRole } from '../../../libs/contracts/agent-protocol';
import type { ClusterType } from './cluster-state';

export interface ClusterShape {
  clusterType: ClusterType;
  minInstances: number | null;
  numOfWorkers: number | null;
}

export interface PlannedNode {
  nodeNumber: number;
  role: NodeRole;
}

/**
 * Nodes a cluster starts with. PLATFORM: `min_instances` nodes on their own. STANDALONE: as many, each a Spark
 * standalone cluster of its own. CLUSTER: a master node and its worker nodes, `num_of_workers` or else `min_instances`.
 */
export function planNodes(shape: ClusterShape): PlannedNode[] {
  const instances = shape.minInstances ?? 1;
  switch (shape.clusterType) {
    case 'PLATFORM':
      return numbered(instances, () => 'single');
    case 'STANDALONE':
      return numbered(instances, () => 'master-and-workers');
    case 'CLUSTER':
      return numbered(1 + (shape.numOfWorkers ?? instances), (index) => (index === 0 ? 'master' : 'worker'));
  }
}

function numbered(count: number, role: (index: number) => NodeRole): PlannedNode[] {
  return Array.from({ length: count }, (_, index) => ({ nodeNumber: index, role: role(index) }));
}
