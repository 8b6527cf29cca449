import type { NodeRole } from '../../../../libs/contracts/agent-protocol';
import type { ClusterStatus, ClusterType } from '../cluster-state';

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
  /** Below the minimum; the cluster stays RUNNING. */
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
 * What is to be done about the number of nodes, from nothing but the facts. Equal facts lead to equal decisions, and what
 * was decided is among the facts of the next: nodes asked for are `starting`, those given up are `leaving`.
 *
 * In order: nodes missing to the minimum are replaced; a cluster grows by what waits; what is idle for long leaves.
 */
export function decideScaling(facts: ScalingFacts): ScalingDecision {
  const instances = instancesOf(facts);
  if (facts.status !== 'RUNNING' && facts.status !== 'RESIZING_UP') return NONE;
  const mayGrow = facts.growAfter === null || facts.now >= facts.growAfter;
  const decisions = facts.status === 'RUNNING' ? [replace, grow, shrink] : [grow];
  for (const decide of decisions) {
    if (decide !== shrink && !mayGrow) continue;
    const decision = decide(facts, instances);
    if (decision.kind !== 'none') return decision;
  }
  return NONE;
}

function instancesOf({ clusterType, minInstances, maxInstances, nodes }: ScalingFacts): Instances {
  const instances = clusterType === 'CLUSTER' ? nodes.filter(({ role }) => role === 'worker') : nodes;
  const max = Math.max(0, maxInstances);
  return {
    ready: instances.filter(({ phase }) => phase === 'ready'),
    starting: instances.filter(({ phase }) => phase === 'starting').length,
    min: Math.min(minInstances, max),
    max,
  };
}

function replace(_facts: ScalingFacts, { ready, starting, min }: Instances): ScalingDecision {
  const missing = min - ready.length - starting;
  if (missing <= 0) return NONE;
  return { kind: 'replace', by: missing, reason: `${missing} of at least ${min} nodes are missing` };
}

function grow(facts: ScalingFacts, { ready, starting, max }: Instances): ScalingDecision {
  const room = max - ready.length - starting;
  if (room <= 0) return NONE;
  const busy = sum(ready.map(({ busySlots }) => busySlots));
  const capacity = (ready.length + starting) * facts.maxParallelJobs;
  const short = facts.waitingRuns + busy - capacity;
  if (facts.waitingRuns <= 0 || short <= 0) return NONE;
  const by = Math.min(room, Math.ceil(short / facts.maxParallelJobs));
  return { kind: 'grow', by, reason: `${facts.waitingRuns} runs wait for a slot` };
}

function shrink(facts: ScalingFacts, { ready, min }: Instances): ScalingDecision {
  if (facts.waitingRuns > 0 || facts.pendingCores > 0) return NONE;
  const idle = ready
    .filter(({ busySlots, usedCores }) => busySlots === 0 && usedCores === 0)
    .filter(({ idleSince }) => idleSince !== null && facts.now - idleSince >= facts.cleanUpTimeoutMs)
    .toSorted((a, b) => b.nodeNumber - a.nodeNumber)
    .slice(0, Math.max(0, ready.length - min));
  if (idle.length === 0) return NONE;
  return { kind: 'shrink', nodeIds: idle.map(({ nodeId }) => nodeId), reason: `${idle.length} nodes are idle` };
}

/**
 * CLUSTER: whether the cores in use on one ready worker are free on another, so that it could be given up. Used by the
 * caller to keep `spareWorkerSince`.
 */
export function hasSpareWorker({ nodes }: Pick<ScalingFacts, 'nodes'>): boolean {
  return nodes.length > 1;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
