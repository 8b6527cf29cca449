import type { NodeRole } from '../../../../../libs/contracts/agent-protocol';
import type { ClusterType } from '../model/cluster-state';

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

/** How many instances a cluster has: nodes, or workers of a CLUSTER. */
export interface InstanceBounds {
  min: number;
  max: number;
  /** When it starts. */
  first: number;
}

/** What exists of a cluster. */
type ExistingNode = { node_number: number; role: NodeRole };

/** The role of what is added and removed as the work changes. */
const INSTANCE_ROLE = { PLATFORM: 'single', STANDALONE: 'master-and-workers', CLUSTER: 'worker' } as const;

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
  if (clusterType !== 'CLUSTER') return { min, max, first: min };
  const asked = numOfWorkers ?? min;
  if (minInstances === null || min === max) return { min: asked, max: asked, first: asked };
  return { min, max, first: Math.min(max, Math.max(min, asked)) };
}

/** Whether the node is one of those that are added and removed. */
export function isInstance(clusterType: ClusterType, { role }: Pick<PlannedNode, 'role'>): boolean {
  return role === INSTANCE_ROLE[clusterType];
}

/**
 * Nodes that a cluster needs to start besides those that it has. PLATFORM: nodes on their own. STANDALONE: as many, each a
 * Spark standalone cluster of its own. CLUSTER: a master node and its workers.
 */
export function planNodes(shape: ClusterShape, existing: readonly ExistingNode[] = []): PlannedNode[] {
  const needsMaster = shape.clusterType === 'CLUSTER' && !existing.some(({ role }) => role === 'master');
  const masters = needsMaster ? named(['master'], existing) : [];
  const all = [...existing, ...masters.map(({ nodeNumber, role }) => ({ node_number: nodeNumber, role }))];
  const instances = existing.filter((node) => isInstance(shape.clusterType, node)).length;
  return [...masters, ...planInstances(shape, instanceBounds(shape).first - instances, all)];
}

/** So many further instances, beside nodes that exist: each gets the lowest number that is free. */
export function planInstances(
  { clusterType }: Pick<ClusterShape, 'clusterType'>,
  count: number,
  existing: readonly ExistingNode[],
): PlannedNode[] {
  return named(
    Array.from({ length: Math.max(0, count) }, () => INSTANCE_ROLE[clusterType]),
    existing,
  );
}

function named(roles: readonly NodeRole[], existing: readonly ExistingNode[]): PlannedNode[] {
  const taken = new Set(existing.map(({ node_number }) => node_number));
  let next = 0;
  return roles.map((role) => {
    while (taken.has(next)) next += 1;
    taken.add(next);
    return { nodeNumber: next, role };
  });
}

/**
 * Of the nodes of a cluster that stops, those that are kept: as many as the next start needs, the lowest numbers first. What
 * was added for the work of the day is not paid for at night.
 */
export function keptNodes<N extends ExistingNode>(shape: ClusterShape, nodes: readonly N[]): Set<N> {
  const instances = nodes.filter((node) => isInstance(shape.clusterType, node));
  const kept = instances.toSorted((a, b) => a.node_number - b.node_number).slice(0, instanceBounds(shape).first);
  return new Set([...nodes.filter((node) => !isInstance(shape.clusterType, node)), ...kept]);
}
