import type { NodeSlots } from '../model/cluster-nodes.repository';

/**
 * For each of at most `limit` runs a node, as long as one has a free slot: always the one with the fewest runs, and of
 * those the first.
 */
export function spread(nodes: readonly NodeSlots[], maxParallelJobs: number, limit: number): number[] {
  const given: number[] = [];
  const [fewest] = nodes;
  if (!fewest) return given;
  const busiest = Math.min(maxParallelJobs, fewest.busy_slots + limit);
  for (let level = fewest.busy_slots; level < busiest && given.length < limit; level += 1) {
    for (const { node_id, busy_slots } of nodes) {
      if (busy_slots > level || given.length === limit) break;
      given.push(node_id);
    }
  }
  return given;
}

/**
 * The same for a cluster that shrinks: always the node with the most runs that has a free slot, and of those the first, so
 * that nodes become idle when less is to be done.
 */
export function pack(nodes: readonly NodeSlots[], maxParallelJobs: number, limit: number): number[] {
  const given: number[] = [];
  for (const { node_id, busy_slots } of nodes) {
    for (let slot = busy_slots; slot < maxParallelJobs && given.length < limit; slot += 1) given.push(node_id);
  }
  return given;
}

/** By node, `each` for each time that it is named. */
export function countEach(nodeIds: readonly number[], each: number): Map<number, number> {
  const counts = new Map<number, number>();
  for (const nodeId of nodeIds) counts.set(nodeId, (counts.get(nodeId) ?? 0) + each);
  return counts;
}
