import type { NodeRole } from '../../../../../libs/contracts/agent-protocol';
import type { ClusterType } from '../model/cluster-state';
import type { Cluster } from './entities/cluster.entity';

export interface ClusterShape {
  clusterType: ClusterType;
  minInstances: number | null;
  maxInstances: number | null;
  numOfWorkers: number | null;
}

export interface PlannedNode {
  nodeNumber: number;
  role: NodeRole;
}

/** Number of instances of a cluster: its nodes, or the workers of a CLUSTER. */
export interface InstanceBounds {
  min: number;
  max: number;
  /** Number at its start. */
  initial: number;
}

type ExistingNode = { node_number: number; role: NodeRole };

const INSTANCE_ROLE = { PLATFORM: 'single', STANDALONE: 'master-and-workers', CLUSTER: 'worker' } as const;

type ShapeRow = Pick<Cluster, 'cluster_type' | 'min_instances' | 'max_instances' | 'num_of_workers'>;

export function shapeOf(row: ShapeRow): ClusterShape {
  return {
    clusterType: row.cluster_type,
    minInstances: row.min_instances,
    maxInstances: row.max_instances,
    numOfWorkers: row.num_of_workers,
  };
}

/**
 * A CLUSTER has `num_of_workers` workers, unless `min_instances` is less than `max_instances`: then it has as many as its
 * applications use, and begins with `num_of_workers` within those bounds.
 */
export function instanceBounds({
  clusterType,
  minInstances,
  maxInstances,
  numOfWorkers,
}: ClusterShape): InstanceBounds {
  const min = minInstances ?? 1;
  const max = Math.max(min, maxInstances ?? min);
  if (clusterType !== 'CLUSTER') return { min, max, initial: min };
  const requested = numOfWorkers ?? min;
  if (minInstances === null || min === max) return { min: requested, max: requested, initial: requested };
  return { min, max, initial: Math.min(max, Math.max(min, requested)) };
}

/** True if the node is added and removed as the load changes. */
export function isInstance(clusterType: ClusterType, { role }: Pick<PlannedNode, 'role'>): boolean {
  return role === INSTANCE_ROLE[clusterType];
}

/**
 * Returns the nodes that a cluster lacks for its start. PLATFORM: independent nodes. STANDALONE: nodes with a Spark
 * standalone cluster each. CLUSTER: a master node and its workers.
 */
export function planNodes(shape: ClusterShape, existing: readonly ExistingNode[] = []): PlannedNode[] {
  const needsMaster = shape.clusterType === 'CLUSTER' && !existing.some(({ role }) => role === 'master');
  const masters = needsMaster ? numbered(['master'], existing) : [];
  const all = [...existing, ...masters.map(({ nodeNumber, role }) => ({ node_number: nodeNumber, role }))];
  const instances = existing.filter((node) => isInstance(shape.clusterType, node)).length;
  return [...masters, ...planInstances(shape, instanceBounds(shape).initial - instances, all)];
}

/** Returns `count` further instances. Each gets the lowest free number. */
export function planInstances(
  { clusterType }: Pick<ClusterShape, 'clusterType'>,
  count: number,
  existing: readonly ExistingNode[],
): PlannedNode[] {
  return numbered(
    Array.from({ length: Math.max(0, count) }, () => INSTANCE_ROLE[clusterType]),
    existing,
  );
}

function numbered(roles: readonly NodeRole[], existing: readonly ExistingNode[]): PlannedNode[] {
  const taken = new Set(existing.map(({ node_number }) => node_number));
  let next = 0;
  return roles.map((role) => {
    while (taken.has(next)) next += 1;
    taken.add(next);
    return { nodeNumber: next, role };
  });
}

/**
 * Returns the nodes that a stopping cluster keeps: as many as the next start needs, the lowest numbers first. The nodes that
 * were added for a peak cost nothing while the cluster is stopped.
 */
export function keptNodes<N extends ExistingNode>(shape: ClusterShape, nodes: readonly N[]): Set<N> {
  const instances = nodes.filter((node) => isInstance(shape.clusterType, node));
  const kept = instances.toSorted((a, b) => a.node_number - b.node_number).slice(0, instanceBounds(shape).initial);
  return new Set([...nodes.filter((node) => !isInstance(shape.clusterType, node)), ...kept]);
}
