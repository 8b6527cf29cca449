import {
  decideScaling,
  type NodeFacts,
  type ScalingDecision,
  type ScalingFacts,
} from '../../../src/modules/execution/clusters/scaling/scaling-decision';
import type { Load } from './loads';

/** Interval of decisions while nothing happens. */
export const DECIDES_EVERY_MS = 5_000;
/** Time from the decision to remove a node to its end. */
export const STOPS_WITHIN_MS = 30_000;
/** Duration of an attempt that the provider refuses, and the first and longest pause before the next one. */
const REFUSED_AFTER_MS = 10_000;
const PAUSE_MS = { first: 30_000, longest: 120_000 };
/** Number of the latest runs whose mean length counts. */
const RECENT_RUNS = 20;

/** Longer than any load lasts. */
const GIVES_UP_AFTER_MS = 72 * 3_600_000;

/** The node with a free slot that gets a run. */
export type Placement = 'emptiest' | 'fullest';

export interface Policy {
  decide: (facts: ScalingFacts) => ScalingDecision;
  placement: Placement;
}

export const POLICY: Policy = { decide: decideScaling, placement: 'fullest' };

export interface SimulatedRun {
  arrivesAt: number;
  lastsMs: number;
  startsAt: number;
}

export interface Outcome {
  runs: SimulatedRun[];
  /** Node time from the first arrival until all runs are done and the cluster is at its minimum, including start and stop. */
  nodeMs: number;
  until: number;
  meanWaitMs: number;
  maxWaitMs: number;
  /** Number of times the cluster left RUNNING to grow or to shrink, without attempts that the provider refused. */
  resizes: number;
  /** Decisions other than `none`, with their facts. */
  decisions: { facts: ScalingFacts; decision: ScalingDecision }[];
}

interface SimulatedNode extends NodeFacts {
  readyAt: number;
  goneAt: number;
  isRefused: boolean;
  running: SimulatedRun[];
}

/** A cluster of the type PLATFORM in virtual time: the same load and policy always lead to the same outcome. */
export class Simulation {
  private now = 0;
  private readonly nodes: SimulatedNode[] = [];
  private readonly waiting: Load['runs'][number][] = [];
  private readonly begun: SimulatedRun[] = [];
  private readonly recentMs: number[] = [];
  private readonly decisions: Outcome['decisions'] = [];
  private arrived = 0;
  private nodeMs = 0;
  private resizes = 0;
  private refusals = 0;
  private growAfter: number | null = null;

  constructor(
    private readonly load: Load,
    private readonly policy: Policy = POLICY,
  ) {}

  run(): Outcome {
    for (let number = 0; number < this.load.minInstances; number += 1) this.addNode(-this.load.startTimeMs);
    for (;;) {
      this.happen();
      this.place();
      this.decide();
      if (this.isOver()) return this.outcome();
      if (this.now > GIVES_UP_AFTER_MS) throw new Error(`The load "${this.load.name}" comes to no end`);
      this.advance();
    }
  }

  private isOver(): boolean {
    return (
      this.arrived === this.load.runs.length &&
      this.waiting.length === 0 &&
      this.nodes.length === this.load.minInstances &&
      this.nodes.every(({ phase, busySlots }) => phase === 'ready' && busySlots === 0)
    );
  }

  /** Moves the clock to the next event or decision. */
  private advance(): void {
    const { runs } = this.load;
    const next = Math.min(
      runs[this.arrived]?.arrivesAt ?? Infinity,
      (Math.floor(this.now / DECIDES_EVERY_MS) + 1) * DECIDES_EVERY_MS,
      ...this.nodes
        .flatMap(({ readyAt, goneAt, running }) => [readyAt, goneAt, ...running.map(endOf)])
        .filter((at) => at > this.now),
    );
    this.nodeMs += this.nodes.filter(({ isRefused }) => !isRefused).length * (next - this.now);
    this.now = next;
  }

  private happen(): void {
    const { load, now } = this;
    for (let run = load.runs[this.arrived]; run && run.arrivesAt <= now; run = load.runs[this.arrived]) {
      this.waiting.push(run);
      this.arrived += 1;
    }
    for (const node of this.nodes) {
      if (node.phase === 'starting' && node.readyAt <= now) {
        Object.assign(node, { phase: 'ready', idleSince: now });
        this.refusals = 0;
      }
      const ended = node.running.filter((run) => endOf(run) <= now);
      if (ended.length === 0) continue;
      this.recentMs.push(...ended.map(({ lastsMs }) => lastsMs));
      node.running = node.running.filter((run) => !ended.includes(run));
      node.busySlots = node.running.length;
      if (node.busySlots === 0) node.idleSince = now;
    }
    const gone = this.nodes.filter(({ goneAt }) => goneAt <= now);
    for (const node of gone) this.nodes.splice(this.nodes.indexOf(node), 1);
    if (gone.some(({ isRefused }) => isRefused)) {
      this.growAfter = now + Math.min(PAUSE_MS.longest, PAUSE_MS.first * 2 ** this.refusals);
      this.refusals += 1;
    }
  }

  private place(): void {
    const { maxParallelJobs } = this.load;
    const sign = this.policy.placement === 'fullest' ? -1 : 1;
    while (this.waiting.length > 0) {
      const [node] = this.nodes
        .filter(({ phase, busySlots }) => phase === 'ready' && busySlots < maxParallelJobs)
        .toSorted((a, b) => sign * (a.busySlots - b.busySlots) || a.nodeNumber - b.nodeNumber);
      const run = node && this.waiting.shift();
      if (!run) return;
      const begun = { ...run, startsAt: this.now };
      this.begun.push(begun);
      node.running.push(begun);
      node.busySlots += 1;
      node.idleSince = null;
    }
  }

  private decide(): void {
    const facts = this.facts();
    const decision = this.policy.decide(facts);
    if (decision.kind === 'none') return;
    this.decisions.push({ facts, decision });
    if (decision.kind === 'shrink' || decision.kind === 'trim') {
      this.resizes += 1;
      for (const node of this.nodes)
        if (decision.nodeIds.includes(node.nodeId))
          Object.assign(node, { phase: 'leaving', goneAt: this.now + STOPS_WITHIN_MS });
      return;
    }
    if (facts.status === 'RUNNING' && !this.isRefused()) this.resizes += 1;
    for (let added = 0; added < decision.by; added += 1) this.addNode(this.now);
  }

  private isRefused(): boolean {
    return this.load.outages.some(({ from, to }) => this.now >= from && this.now < to);
  }

  /** Adds a node; at the very beginning it is ready at once. */
  private addNode(requestedAt: number): void {
    const numbers = this.nodes.map(({ nodeNumber }) => nodeNumber);
    const nodeNumber = this.nodes.findIndex((_, number) => !numbers.includes(number));
    const isRefused = requestedAt === this.now && this.isRefused();
    const readyAt = isRefused ? Infinity : requestedAt + this.load.startTimeMs;
    this.nodes.push({
      nodeId: this.nodes.reduce((last, { nodeId }) => Math.max(last, nodeId), 0) + 1,
      nodeNumber: nodeNumber < 0 ? this.nodes.length : nodeNumber,
      role: 'single',
      phase: 'starting',
      busySlots: 0,
      usedCores: 0,
      cores: 0,
      idleSince: null,
      readyAt,
      goneAt: isRefused ? requestedAt + REFUSED_AFTER_MS : Infinity,
      isRefused,
      running: [],
    });
  }

  private facts(): ScalingFacts {
    const { load, now, nodes, waiting } = this;
    const { minInstances, maxInstances, maxParallelJobs, cleanUpTimeoutMs, startTimeMs } = load;
    const recentMs = this.recentMs.slice(-RECENT_RUNS);
    return {
      now,
      clusterType: 'PLATFORM',
      status: statusOf(nodes),
      minInstances,
      maxInstances,
      maxParallelJobs,
      cleanUpTimeoutMs,
      waitingRuns: Math.min(waiting.length, maxInstances * maxParallelJobs + 1),
      oldestWaitingSince: waiting[0]?.arrivesAt ?? null,
      pendingCores: 0,
      pendingSince: null,
      growAfter: this.growAfter,
      startTimeMs,
      recentRunMs: recentMs.length === 0 ? null : mean(recentMs),
      nodes: nodes.map((node) => ({ ...node })),
    };
  }

  private outcome(): Outcome {
    const waits = this.begun.map(({ arrivesAt, startsAt }) => startsAt - arrivesAt);
    return {
      runs: this.begun,
      nodeMs: this.nodeMs,
      until: this.now,
      meanWaitMs: mean(waits),
      maxWaitMs: Math.max(...waits),
      resizes: this.resizes,
      decisions: this.decisions,
    };
  }
}

function endOf({ startsAt, lastsMs }: SimulatedRun): number {
  return startsAt + lastsMs;
}

function statusOf(nodes: readonly NodeFacts[]): ScalingFacts['status'] {
  if (nodes.some(({ phase }) => phase === 'starting')) return 'RESIZING_UP';
  return nodes.some(({ phase }) => phase === 'leaving') ? 'RESIZING_DOWN' : 'RUNNING';
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((total, value) => total + value, 0) / values.length;
}
