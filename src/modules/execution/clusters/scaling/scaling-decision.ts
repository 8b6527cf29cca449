import type { NodeRole } from '../../../../../libs/contracts/agent-protocol';
import type { ClusterStatus, ClusterType } from '../model/cluster-state';

/** What is known of a node when a decision is made. Times are milliseconds of one clock. */
export interface NodeFacts {
  nodeId: number;
  nodeNumber: number;
  role: NodeRole;
  /** `starting`: asked for, not ready; `ready`: takes work; `leaving`: draining or being destroyed; `broken`: lost or failed. */
  phase: 'starting' | 'ready' | 'leaving' | 'broken';
  busySlots: number;
  usedCores: number;
  cores: number;
  /** Since when nothing runs on it; null while something does. */
  idleSince: number | null;
}

/** What is known of a cluster when a decision is made. Of a CLUSTER, instances are its workers. */
export interface ScalingFacts {
  now: number;
  clusterType: ClusterType;
  status: ClusterStatus;
  minInstances: number;
  maxInstances: number;
  maxParallelJobs: number;
  cleanUpTimeoutMs: number;
  /** Runs that wait for a slot (PLATFORM, STANDALONE), capped at maxInstances × maxParallelJobs + 1. */
  waitingRuns: number;
  oldestWaitingSince: number | null;
  /** CLUSTER: cores that the master's applications ask for and have not. */
  pendingCores: number;
  pendingSince: number | null;
  /** CLUSTER: since when `hasSpareWorker` says so without a break; null or absent if it does not, or is not followed. */
  spareWorkerSince?: number | null;
  /** Not before this time may the cluster grow: an earlier attempt failed. */
  growAfter: number | null;
  /** Measured or default time that a node needs to become ready. */
  startTimeMs: number;
  /** Mean length of the runs that ended lately; null if none did. */
  recentRunMs: number | null;
  nodes: readonly NodeFacts[];
}

export type ScalingDecision =
  | { kind: 'none' }
  /** To RESIZING_UP, or more for the resize under way. */
  | { kind: 'grow'; by: number; reason: string }
  /** To RESIZING_DOWN. */
  | { kind: 'shrink'; nodeIds: number[]; reason: string }
  /** Below the minimum; the cluster stays RUNNING, unless it has no node at all. */
  | { kind: 'replace'; by: number; reason: string };

const NONE: ScalingDecision = { kind: 'none' };

/** The instances by what they are good for. Those that leave or are broken are neither capacity nor part of the minimum. */
interface Instances {
  ready: NodeFacts[];
  starting: number;
  min: number;
  max: number;
}

/**
 * What is to be done about the number of nodes, from nothing but the facts. What was decided is among the facts of the
 * next decision: nodes asked for are `starting`, those given up are `leaving`.
 *
 * In order: nodes that are missing to the minimum are replaced; the cluster grows by what waits; what was idle for long
 * leaves. A cluster that is not RUNNING is left alone, but what waits while it grows may make it grow further.
 */
export function decideScaling(facts: ScalingFacts): ScalingDecision {
  const isRunning = facts.status === 'RUNNING';
  if (!isRunning && facts.status !== 'RESIZING_UP') return NONE;
  const instances = instancesOf(facts);
  if (facts.growAfter === null || facts.now >= facts.growAfter) {
    const missing = instances.min - instances.ready.length - instances.starting;
    if (missing > 0 && (isRunning || hasNone(facts)))
      return { kind: 'replace', by: missing, reason: `${missing} of at least ${count(instances.min, 'node')} missing` };
    const grown = facts.clusterType === 'CLUSTER' ? growByCores(facts, instances) : growByRuns(facts, instances);
    if (grown.kind !== 'none') return grown;
  }
  return isRunning ? shrink(facts, instances) : NONE;
}

/** Where minimum and maximum contradict each other, the maximum holds: it is what the owner is ready to pay. */
function instancesOf({ clusterType, minInstances, maxInstances, nodes }: ScalingFacts): Instances {
  const instances = clusterType === 'CLUSTER' ? nodes.filter(isWorker) : nodes;
  const max = Math.max(0, maxInstances);
  return {
    ready: instances.filter(isReady),
    starting: instances.filter(({ phase }) => phase === 'starting').length,
    min: Math.min(minInstances, max),
    max,
  };
}

/**
 * As many nodes as the waiting runs fill that find neither a free slot nor one of a node under way. None while these are
 * all expected to get a slot before a new node could be ready, unless one waits for longer than a node takes to start. By
 * simulation (test/unit/autoscaling), that costs runs some ten seconds and spares up to a tenth of the node time.
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

/** Half of the runs that are expected to end before a node that is asked for now would be ready: some last longer. */
function slotsFreeSoon({ recentRunMs, startTimeMs }: ScalingFacts, ready: readonly NodeFacts[]): number {
  if (recentRunMs === null || recentRunMs <= 0) return 0;
  return (sum(ready.map(({ busySlots }) => busySlots)) * startTimeMs) / recentRunMs / 2;
}

/**
 * As many workers as hold the cores that applications ask for, less what is under way. Cores that are free are about to
 * be given; if they are not after the time that a worker takes to start, they do not suit, for lack of memory perhaps.
 */
function growByCores(facts: ScalingFacts, { ready, starting, max }: Instances): ScalingDecision {
  const { pendingCores, nodes } = facts;
  if (pendingCores <= 0 || !hasMaster(nodes)) return NONE;
  const free = waitsForLong(facts, facts.pendingSince) ? 0 : sum(ready.map(freeCores));
  const coresOfWorker = Math.max(0, ...nodes.filter(isWorker).map(({ cores }) => cores));
  const wanted = coresOfWorker > 0 ? Math.ceil((pendingCores - free) / coresOfWorker) : 1;
  const by = Math.min(max - ready.length, wanted) - starting;
  if (by <= 0) return NONE;
  return { kind: 'grow', by, reason: `${count(pendingCores, 'core')} asked for and not there` };
}

/**
 * What was idle for the clean-up timeout, down to the minimum; the highest numbers go first, so that the low ones stay.
 * Nothing goes while something waits: it would soon be wanted again.
 */
function shrink(facts: ScalingFacts, { ready, min, max }: Instances): ScalingDecision {
  const { clusterType, waitingRuns, pendingCores, nodes } = facts;
  if (waitingRuns > 0 || pendingCores > 0) return NONE;
  const surplus = ready.length - min;
  if (surplus <= 0) return NONE;
  const aboveMax = Math.max(0, ready.length - max);
  const byNumber = ready.filter(isIdle).toSorted((a, b) => b.nodeNumber - a.nodeNumber);
  const expired = byNumber.filter((node) => hasPassed(facts, node.idleSince));
  if (clusterType !== 'CLUSTER') {
    const idle = expired.length > aboveMax ? expired : byNumber.slice(0, aboveMax);
    return leave(idle.slice(0, surplus), 'idle');
  }
  // One at a time: what a worker held moves to the others, which shows whether they suffice.
  if (!hasMaster(nodes)) return NONE;
  if (expired.length > 0) return leave(expired.slice(0, 1), 'idle');
  return hasPassed(facts, facts.spareWorkerSince ?? null) ? leave(spareWorkers(nodes).slice(0, 1), 'spare') : NONE;
}

function leave(nodes: readonly NodeFacts[], what: 'idle' | 'spare'): ScalingDecision {
  if (nodes.length === 0) return NONE;
  return {
    kind: 'shrink',
    nodeIds: nodes.map(({ nodeId }) => nodeId),
    reason: `${count(nodes.length, 'node')} ${what}`,
  };
}

/** CLUSTER: whether a worker that is in use could be given up. The caller keeps since when as `spareWorkerSince`. */
export function hasSpareWorker({ nodes }: Pick<ScalingFacts, 'nodes'>): boolean {
  return spareWorkers(nodes).length > 0;
}

/**
 * Workers whose cores in use are free on one other worker, those with the fewest first. Free cores that are scattered do
 * not count: executors have several, and one that found no place would be asked for again.
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

/** Without its master, what is known of a cluster's applications is old. */
function hasMaster(nodes: readonly NodeFacts[]): boolean {
  return nodes.every((node) => node.role !== 'master' || isReady(node));
}

/** Of nodes that work or are to. */
function hasNone({ nodes }: ScalingFacts): boolean {
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
