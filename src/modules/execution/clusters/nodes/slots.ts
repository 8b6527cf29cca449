import type { NodeSlots } from '../model/cluster-nodes.repository';

/**
 * Assigns a node to each of at most `limit` runs while slots are free: always the emptiest node, and the first among
 * equals.
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
 * Assigns nodes for a cluster that removes idle nodes: always the fullest node with a free slot, and the first among
 * equals, so that other nodes become idle when the load drops.
 */
export function pack(nodes: readonly NodeSlots[], maxParallelJobs: number, limit: number): number[] {
  const given: number[] = [];
  for (const { node_id, busy_slots } of nodes) {
    for (let slot = busy_slots; slot < maxParallelJobs && given.length < limit; slot += 1) given.push(node_id);
  }
  return given;
}

/** Returns by node `each` times its number of occurrences. */
export function countEach(nodeIds: readonly number[], each: number): Map<number, number> {
  const counts = new Map<number, number>();
  for (const nodeId of nodeIds) counts.set(nodeId, (counts.get(nodeId) ?? 0) + each);
  return counts;
}
