import { oneOf } from '../../../../platform/kernel/persistence/columns';
import { GIVES_SLOTS, REFUSES_RUNS } from './cluster-state';

/** SQL condition that a node takes runs while it has free slots. */
export const TAKES_RUNS = `to_date = 'infinity' AND status = 'RUNNING' AND daemons_state = 'ready' AND role <> 'worker' AND NOT draining`;

/** SQL condition that a node carries no runs any more. */
export const IS_DEAD = `status IN ('STOPPED', 'DESTROYED', 'ERROR')`;

/** Returns an SQL condition that the cluster with the alias gives its free slots to runs. */
export const givesSlots = (cluster: string) => oneOf(`${cluster}.status`, GIVES_SLOTS);

/** Returns an SQL condition that a run could get a slot of the cluster with the alias. */
export const hasFreeSlot = (cluster: string) => `(${givesSlots(cluster)} AND EXISTS (
  SELECT 1 FROM cluster_nodes WHERE cluster_id = ${cluster}.cluster_id AND ${TAKES_RUNS}
    AND busy_slots < ${cluster}.max_parallel_jobs))`;

/**
 * Returns an SQL condition that no run may be waiting for the cluster with the alias: each gets a slot, an end or a
 * start.
 */
export const mayLeaveNoRunWaiting = (cluster: string) =>
  `(${oneOf(`${cluster}.status`, ['STOPPED', ...REFUSES_RUNS])} OR ${hasFreeSlot(cluster)})`;
