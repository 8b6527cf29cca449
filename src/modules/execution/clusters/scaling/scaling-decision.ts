import type { NodeRole } from '../../../../../libs/contracts/agent-protocol';
import { type ClusterStatus, type ClusterType, GIVES_SLOTS } from '../model/cluster-state';

/** The facts about a node that a decision uses. Times are milliseconds of one clock. */
export interface NodeFacts {
  nodeId: number;
  nodeNumber: number;
  role: NodeRole;
  /**
   * `starting`: requested, not ready; `ready`: takes work; `leaving`: draining or being destroyed; `broken`: lost or
   * failed.
   */
  phase: 'starting' | 'ready' | 'leaving' | 'broken';
  busySlots: number;
  usedCores: number;
  cores: number;
  /** Time at which the node became idle; null while something runs on it. */
  idleSince: number | null;
}

/** The facts about a cluster that a decision uses. The instances of a CLUSTER are its workers. */
export interface ScalingFacts {
  now: number;
  clusterType: ClusterType;
  status: ClusterStatus;
  minInstances: number;
  maxInstances: number;
  /**
   * The minimum before a user raised it, or the instances that became ready since then, while there are too few for the new one: only
   * those short of this number are replaced, and the others are added. Null or absent otherwise.
   */
  minBeforeResize?: number | null;
  maxParallelJobs: number;
  cleanUpTimeoutMs: number;
  /** Runs that wait for a slot (PLATFORM, STANDALONE), capped at maxInstances × maxParallelJobs + 1. */
  waitingRuns: number;
  oldestWaitingSince: number | null;
  /** CLUSTER: cores that the master's applications request and do not have. */
  pendingCores: number;
  pendingSince: number | null;
  /**
   * CLUSTER: since when `hasSpareWorker` has been true without a break; null or absent if it is false or not tracked.
   */
  spareWorkerSince?: number | null;
  /** The cluster must not grow before this time, because an earlier attempt failed. */
  growAfter: number | null;
  /** Time that a node needs to become ready, measured or a default. */
  startTimeMs: number;
  /** Mean duration of recent runs; null if none has ended. */
  recentRunMs: number | null;
  nodes: readonly NodeFacts[];
}

export type ScalingDecision =
  | { kind: 'none' }
  /** Moves to RESIZING_UP, or adds to the resize under way. */
  | { kind: 'grow'; by: number; reason: string }
  | { kind: 'shrink'; nodeIds: number[]; reason: string }
  /** Removes nodes above the maximum, busy ones once their runs have ended. It adds to the resize under way. */
  | { kind: 'trim'; nodeIds: number[]; reason: string }
  /** Replaces nodes below the minimum. The cluster stays RUNNING, unless it has no node at all. */
  | { kind: 'replace'; by: number; reason: string };

const NONE: ScalingDecision = { kind: 'none' };

/** The instances by their use. Leaving and broken instances count neither as capacity nor towards the minimum. */
interface Instances {
  ready: NodeFacts[];
  starting: number;
  min: number;
  /** The part of the minimum that the cluster has had, so that nodes missing to it are lost ones. */
  replaced: number;
  max: number;
}

/**
 * Decides the change of the number of nodes from the facts alone. The next decision sees the effects among its facts:
 * requested nodes are `starting`, removed ones are `leaving`.
 *
 * The order is: remove nodes above the maximum, replace lost nodes up to the minimum, grow to a minimum that was raised, grow for
 * waiting work, remove nodes that were idle for long. Only a RUNNING cluster is changed, but one that grows may grow further, and
 * a resize that a user requested does not wait for one under way.
 */
export function decideScaling(facts: ScalingFacts): ScalingDecision {
  if (!GIVES_SLOTS.includes(facts.status)) return NONE;
  const instances = instancesOf(facts);
  const trimmed = trim(facts, instances);
  if (trimmed.kind !== 'none') return trimmed;
  if (facts.growAfter === null || facts.now >= facts.growAfter) {
    const grown = grow(facts, instances);
    if (grown.kind !== 'none') return grown;
  }
  return facts.status === 'RUNNING' ? shrink(facts, instances) : NONE;
}

function grow(facts: ScalingFacts, instances: Instances): ScalingDecision {
  const { ready, starting, min, replaced } = instances;
  const existing = ready.length + starting;
  const lost = replaced - existing;
  if (lost > 0 && (facts.status === 'RUNNING' || (facts.status === 'RESIZING_UP' && hasNoUsableNode(facts))))
    return { kind: 'replace', by: lost, reason: `${lost} of at least ${count(replaced, 'node')} missing` };
  const missing = min - Math.max(existing, replaced);
  if (missing > 0) return { kind: 'grow', by: missing, reason: `${missing} of at least ${count(min, 'node')} missing` };
  if (facts.status === 'RESIZING_DOWN') return NONE;
  return facts.clusterType === 'CLUSTER' ? growByCores(facts, instances) : growByRuns(facts, instances);
}

/**
 * Returns how many nodes a user's resize has made ready, if they are more than before it: those that are lost from now on are replaced.
 * Null if there is no such resize, or no more nodes.
 */
export function reachedByResize(facts: ScalingFacts): number | null {
  const { ready, min, replaced } = instancesOf(facts);
  const reached = Math.min(min, ready.length);
  return facts.minBeforeResize != null && reached > replaced ? reached : null;
}

/** True once a cluster has no node missing to its minimum, or too many for its maximum. Its resize by a user is over then. */
export function isWithinBounds(facts: ScalingFacts): boolean {
  const { ready, starting, min, max } = instancesOf(facts);
  return ready.length >= min && ready.length + starting <= max;
}

/** If minimum and maximum contradict each other, the maximum wins, because it limits the owner's cost. */
function instancesOf({ clusterType, minInstances, maxInstances, minBeforeResize, nodes }: ScalingFacts): Instances {
  const instances = clusterType === 'CLUSTER' ? nodes.filter(isWorker) : nodes;
  const max = Math.max(0, maxInstances);
  const min = Math.min(minInstances, max);
  return {
    ready: instances.filter(isReady),
    starting: instances.filter(({ phase }) => phase === 'starting').length,
    min,
    replaced: Math.min(min, minBeforeResize ?? min),
    max,
  };
}

/**
 * Returns as many nodes as the waiting runs fill that find no free slot, also counting nodes under way. Returns none
 * while all of these runs are expected to get a slot before a new node could be ready, unless one has waited for longer
 * than a node takes to start. In the simulation (test/unit/autoscaling), this costs runs some ten seconds and saves up
 * to a tenth of the node time.
 */
function growByRuns(facts: ScalingFacts, { ready, starting, max }: Instances): ScalingDecision {
  const { waitingRuns, maxParallelJobs } = facts;
  if (waitingRuns <= 0) return NONE;
  const free = sum(ready.map(({ busySlots }) => Math.max(0, maxParallelJobs - busySlots)));
  const unserved = waitingRuns - free - starting * maxParallelJobs;
  if (!waitsForLong(facts, facts.oldestWaitingSince) && unserved <= slotsFreeSoon(facts, ready)) return NONE;
  const by = Math.min(max - ready.length - starting, Math.ceil(unserved / maxParallelJobs));
  if (by <= 0) return NONE;
  return { kind: 'grow', by, reason: `${count(waitingRuns, 'run')} without a slot` };
}

/**
 * Returns half of the runs that are expected to end before a node requested now is ready; half, because some last
 * longer.
 */
function slotsFreeSoon({ recentRunMs, startTimeMs }: ScalingFacts, ready: readonly NodeFacts[]): number {
  if (recentRunMs === null || recentRunMs <= 0) return 0;
  return (sum(ready.map(({ busySlots }) => busySlots)) * startTimeMs) / recentRunMs / 2;
}

/**
 * Returns as many workers as hold the requested cores, less those under way. Free cores are about to be allocated. If
 * they still are not after the time that a worker takes to start, they do not suit, perhaps for lack of memory.
 */
function growByCores(facts: ScalingFacts, { ready, starting, max }: Instances): ScalingDecision {
  const { pendingCores, nodes } = facts;
  if (pendingCores <= 0 || !hasMaster(nodes)) return NONE;
  const free = waitsForLong(facts, facts.pendingSince) ? 0 : sum(ready.map(freeCores));
  const coresOfWorker = Math.max(0, ...nodes.filter(isWorker).map(({ cores }) => cores));
  const wanted = coresOfWorker > 0 ? Math.ceil((pendingCores - free) / coresOfWorker) : 1;
  const by = Math.min(max - ready.length, wanted) - starting;
  if (by <= 0) return NONE;
  return { kind: 'grow', by, reason: `${count(pendingCores, 'core')} requested but not available` };
}

/**
 * Removes ready nodes above the maximum, although work waits for others: idle ones first, then those with the fewest runs and used
 * cores, and among equals the highest numbers. A node that starts is not removed before it is ready.
 */
function trim({ clusterType, nodes, maxInstances }: ScalingFacts, { ready, max }: Instances): ScalingDecision {
  const surplus = ready.length - max;
  if (surplus <= 0 || (clusterType === 'CLUSTER' && !hasMaster(nodes))) return NONE;
  const byLoad = ready.toSorted(
    (a, b) => a.busySlots - b.busySlots || a.usedCores - b.usedCores || b.nodeNumber - a.nodeNumber,
  );
  const nodeIds = byLoad.slice(0, surplus).map(({ nodeId }) => nodeId);
  return { kind: 'trim', nodeIds, reason: `${count(surplus, 'node')} above the maximum of ${maxInstances}` };
}

/**
 * Removes nodes that were idle for the clean-up timeout, down to the minimum. The highest numbers go first, so that the
 * low ones stay. Nothing is removed while work waits, because it would soon be needed again.
 */
function shrink(facts: ScalingFacts, { ready, min }: Instances): ScalingDecision {
  const { clusterType, waitingRuns, pendingCores, nodes } = facts;
  if (waitingRuns > 0 || pendingCores > 0) return NONE;
  const surplus = ready.length - min;
  if (surplus <= 0) return NONE;
  const byNumber = ready.filter(isIdle).toSorted((a, b) => b.nodeNumber - a.nodeNumber);
  const expired = byNumber.filter((node) => hasPassed(facts, node.idleSince));
  if (clusterType !== 'CLUSTER') return removeNodes(expired.slice(0, surplus), 'idle');
  // Workers leave one at a time: the load of each moves to the others, which shows whether they suffice.
  if (!hasMaster(nodes)) return NONE;
  if (expired.length > 0) return removeNodes(expired.slice(0, 1), 'idle');
  return hasPassed(facts, facts.spareWorkerSince ?? null)
    ? removeNodes(spareWorkers(nodes).slice(0, 1), 'spare')
    : NONE;
}

function removeNodes(nodes: readonly NodeFacts[], what: 'idle' | 'spare'): ScalingDecision {
  if (nodes.length === 0) return NONE;
  return {
    kind: 'shrink',
    nodeIds: nodes.map(({ nodeId }) => nodeId),
    reason: `${count(nodes.length, 'node')} ${what}`,
  };
}

/** CLUSTER: true if a busy worker could be removed. The caller stores since when as `spareWorkerSince`. */
export function hasSpareWorker({ nodes }: Pick<ScalingFacts, 'nodes'>): boolean {
  return spareWorkers(nodes).length > 0;
}

/**
 * Returns the workers whose used cores fit on one other worker, those with the fewest first. Scattered free cores do
 * not count: executors have several cores, and one that does not fit would be requested again.
 */
function spareWorkers(nodes: readonly NodeFacts[]): NodeFacts[] {
  const workers = nodes.filter((node) => isWorker(node) && isReady(node));
  const byRoom = workers.toSorted((a, b) => freeCores(b) - freeCores(a));
  return workers
    .filter((worker) => {
      const other = byRoom.find(({ nodeId }) => nodeId !== worker.nodeId);
      return other !== undefined && worker.busySlots === 0 && worker.usedCores <= freeCores(other);
    })
    .toSorted((a, b) => a.usedCores - b.usedCores || b.nodeNumber - a.nodeNumber);
}

function hasPassed({ now, cleanUpTimeoutMs }: ScalingFacts, since: number | null): boolean {
  return since !== null && now - since >= cleanUpTimeoutMs;
}

function waitsForLong({ now, startTimeMs }: ScalingFacts, since: number | null): boolean {
  return since !== null && now - since >= startTimeMs;
}

/** Without its master, the known state of a cluster's applications is outdated. */
function hasMaster(nodes: readonly NodeFacts[]): boolean {
  return nodes.every((node) => node.role !== 'master' || isReady(node));
}

function hasNoUsableNode({ nodes }: ScalingFacts): boolean {
  return nodes.every(({ phase }) => phase === 'leaving' || phase === 'broken');
}

function isWorker({ role }: NodeFacts): boolean {
  return role === 'worker';
}

function isReady({ phase }: NodeFacts): boolean {
  return phase === 'ready';
}

function isIdle({ busySlots, usedCores, idleSince }: NodeFacts): boolean {
  return busySlots === 0 && usedCores === 0 && idleSince !== null;
}

function freeCores({ cores, usedCores }: NodeFacts): number {
  return Math.max(0, cores - usedCores);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function count(number: number, what: string): string {
  return `${number} ${number === 1 ? what : `${what}s`}`;
}
