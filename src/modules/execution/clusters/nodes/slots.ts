import type { NodeSlots } from '../model/cluster-nodes.repository';

/**
 * Assigns a node to each of at most `limit` runs while slots are free: always the emptiest node, and the first among
 * equals.
 */
export function spread(nodes: readonly NodeSlots[], maxParallelJobs: number, limit: number): number[] {
  const assigned: number[] = [];
  const [fewest] = nodes;
  if (!fewest) return assigned;
  const busiest = Math.min(maxParallelJobs, fewest.busy_slots + limit);
  for (let level = fewest.busy_slots; level < busiest && assigned.length < limit; level += 1) {
    for (const { node_id, busy_slots } of nodes) {
      if (busy_slots > level || assigned.length === limit) break;
      assigned.push(node_id);
    }
  }
  return assigned;
}

/**
 * Assigns nodes for a cluster that removes idle nodes: always the fullest node with a free slot, and the first among
 * equals, so that other nodes become idle when the load drops.
 */
export function pack(nodes: readonly NodeSlots[], maxParallelJobs: number, limit: number): number[] {
  const assigned: number[] = [];
  for (const { node_id, busy_slots } of nodes) {
    for (let slot = busy_slots; slot < maxParallelJobs && assigned.length < limit; slot += 1) assigned.push(node_id);
  }
  return assigned;
}

/** Returns by node `each` times its number of occurrences. */
export function countEach(nodeIds: readonly number[], each: number): Map<number, number> {
  const counts = new Map<number, number>();
  for (const nodeId of nodeIds) counts.set(nodeId, (counts.get(nodeId) ?? 0) + each);
  return counts;
}
