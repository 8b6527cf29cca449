import type { ClusterNodeStateEvent } from 'managed-spark/types';

/** A node from its plan to its destruction. */
export interface NodeLife {
  number: number;
  /** Ids of the states that it has had, the newest first; its log has the id of any. */
  states: number[];
  /** The state that it has, or had last. */
  state: string;
  since: string;
  /** False once nothing is written any more. */
  isAlive: boolean;
}

const SILENT = new Set(['STOPPED', 'DESTROYED']);

/** Returns the nodes that have had the states, which are the newest first. A number is given again to a new node once its node is destroyed. */
export function nodeLives(states: readonly ClusterNodeStateEvent[]): NodeLife[] {
  const lives: NodeLife[] = [];
  const latest = new Map<number, NodeLife>();
  for (const { node_status_id: id, node_number: number, node_status: state, start_time: since } of states) {
    const known = latest.get(number);
    if (known && state !== 'DESTROYED') known.states.push(id);
    else {
      const life = { number, states: [id], state, since, isAlive: !SILENT.has(state) };
      latest.set(number, life);
      lives.push(life);
    }
  }
  return lives;
}
