import { oneOf } from '../../../../platform/kernel/persistence/columns';
import { GIVES_SLOTS, REFUSES_RUNS } from './cluster-state';

/** Of a node that can be given runs, as far as it has slots. */
export const TAKES_RUNS = `to_date = 'infinity' AND status = 'RUNNING' AND daemons_state = 'ready' AND role <> 'worker' AND NOT draining`;

/** Of a node that carries no runs any more. */
export const IS_DEAD = `status IN ('STOPPED', 'DESTROYED', 'ERROR')`;

/** Whether the cluster with the alias gives its free slots to runs, as SQL. */
export const givesSlots = (cluster: string) => oneOf(`${cluster}.status`, GIVES_SLOTS);

/** Whether a run could have a slot of the cluster with the alias, as SQL. */
export const hasFreeSlot = (cluster: string) => `(${givesSlots(cluster)} AND EXISTS (
  SELECT 1 FROM cluster_nodes WHERE cluster_id = ${cluster}.cluster_id AND ${TAKES_RUNS}
    AND busy_slots < ${cluster}.max_parallel_jobs))`;

/** Whether no run should be waiting for the cluster with the alias, as SQL: each gets a slot or an end, or a start. */
export const leavesNoneWaiting = (cluster: string) =>
  `(${oneOf(`${cluster}.status`, ['STOPPED', ...REFUSES_RUNS])} OR ${hasFreeSlot(cluster)})`;
