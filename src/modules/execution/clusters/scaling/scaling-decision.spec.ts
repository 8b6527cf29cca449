import { seededRandom, type SeededRandom } from '../../../../../test/harness/seeded-random.cjs';
import { CLUSTER_STATUSES, CLUSTER_TYPES } from '../model/cluster-state';
import {
  decideScaling,
  hasSpareWorker,
  type NodeFacts,
  type ScalingDecision,
  type ScalingFacts,
} from './scaling-decision';

const NOW = 10_000_000;
const TIMEOUT = 600_000;
const START = 120_000;
const NONE = { kind: 'none' };
const grow = (by: number) => expect.objectContaining({ kind: 'grow', by }) as ScalingDecision;
const replace = (by: number) => expect.objectContaining({ kind: 'replace', by }) as ScalingDecision;
const removal = (kind: string, nodeNumbers: number[]) =>
  expect.objectContaining({ kind, nodeIds: nodeNumbers.map((number) => 100 + number) }) as ScalingDecision;
const shrink = (...nodeNumbers: number[]) => removal('shrink', nodeNumbers);
const trim = (...nodeNumbers: number[]) => removal('trim', nodeNumbers);

/** States of nodes by a short name for the tables. */
const NODES = {
  full: { busySlots: 2, usedCores: 8 },
  half: { busySlots: 1, usedCores: 4 },
  idle: { idleSince: NOW - TIMEOUT },
  fresh: { idleSince: NOW - TIMEOUT + 1 },
  starting: { phase: 'starting' },
  leaving: { phase: 'leaving', idleSince: NOW - TIMEOUT },
  broken: { phase: 'broken', idleSince: NOW - TIMEOUT },
} as const satisfies Record<string, Partial<NodeFacts>>;
type What = keyof typeof NODES;

function nodesOf(role: NodeFacts['role'], words: readonly What[]): NodeFacts[] {
  return words.map((word, nodeNumber) => ({
    nodeId: 100 + nodeNumber,
    nodeNumber,
    role,
    phase: 'ready',
    busySlots: 0,
    usedCores: 0,
    cores: 8,
    idleSince: null,
    ...NODES[word],
  }));
}

function factsOf(changed: Partial<ScalingFacts>): ScalingFacts {
  return {
    now: NOW,
    clusterType: 'PLATFORM',
    status: 'RUNNING',
    minInstances: 1,
    maxInstances: 4,
    maxParallelJobs: 2,
    cleanUpTimeoutMs: TIMEOUT,
    waitingRuns: 0,
    oldestWaitingSince: null,
    pendingCores: 0,
    pendingSince: null,
    growAfter: null,
    startTimeMs: START,
    recentRunMs: null,
    nodes: [],
    ...changed,
  };
}

interface Case {
  what: string;
  nodes: What[];
  facts?: Partial<ScalingFacts>;
  decision: unknown;
}

describe.each(['PLATFORM', 'STANDALONE'] as const)('a cluster of the type %s', (clusterType) => {
  const role = clusterType === 'PLATFORM' ? 'single' : 'master-and-workers';
  const waiting = (waitingRuns: number, since = 0) => ({ waitingRuns, oldestWaitingSince: NOW - since });

  it.each<Case>([
    { what: 'keeps its size while nothing waits', nodes: ['half'], decision: NONE },
    { what: 'leaves a free slot to the run that waits', nodes: ['half'], facts: waiting(1), decision: NONE },
    { what: 'grows by one for one run', nodes: ['full'], facts: waiting(1), decision: grow(1) },
    { what: 'grows by as many as the runs fill', nodes: ['full'], facts: waiting(3), decision: grow(2) },
    { what: 'fills free slots first', nodes: ['half'], facts: waiting(3), decision: grow(1) },
    { what: 'grows to the maximum', nodes: ['full'], facts: waiting(9), decision: grow(3) },
    { what: 'grows no further', nodes: ['full', 'full', 'full', 'full'], facts: waiting(9), decision: NONE },
    { what: 'counts nodes under way', nodes: ['full', 'starting'], facts: waiting(2), decision: NONE },
    { what: 'adds to nodes under way', nodes: ['full', 'starting'], facts: waiting(3), decision: grow(1) },
    {
      what: 'does not count leaving nodes as capacity',
      nodes: ['full', 'leaving'],
      facts: waiting(1),
      decision: grow(1),
    },
    {
      what: 'does not count broken nodes as capacity',
      nodes: ['full', 'broken'],
      facts: waiting(1),
      decision: grow(1),
    },
    {
      what: 'fills the place of a leaving node',
      nodes: ['full', 'full', 'full', 'leaving'],
      facts: waiting(9),
      decision: grow(1),
    },
    {
      what: 'waits for a slot that becomes free before a new node is ready',
      nodes: ['full'],
      facts: { ...waiting(1, START - 1), recentRunMs: START },
      decision: NONE,
    },
    {
      what: 'does not wait for a slot that may come too late',
      nodes: ['full'],
      facts: { ...waiting(1), recentRunMs: START + 1 },
      decision: grow(1),
    },
    {
      what: 'lets no run wait for longer than a node takes to start',
      nodes: ['full'],
      facts: { ...waiting(1, START), recentRunMs: START },
      decision: grow(1),
    },
    {
      what: 'does not grow after a failure',
      nodes: ['full'],
      facts: { ...waiting(1), growAfter: NOW + 1 },
      decision: NONE,
    },
    {
      what: 'grows again after the pause',
      nodes: ['full'],
      facts: { ...waiting(1), growAfter: NOW },
      decision: grow(1),
    },

    { what: 'removes a node that was idle for the timeout', nodes: ['half', 'idle'], decision: shrink(1) },
    { what: 'removes nothing sooner', nodes: ['half', 'fresh'], decision: NONE },
    { what: 'keeps the minimum', nodes: ['idle'], decision: NONE },
    { what: 'keeps the low numbers', nodes: ['idle', 'idle', 'idle'], decision: shrink(2, 1) },
    { what: 'keeps a node with runs', nodes: ['idle', 'half', 'idle'], decision: shrink(2, 0) },
    { what: 'keeps all while a run waits', nodes: ['half', 'idle'], facts: waiting(1), decision: NONE },
    { what: 'does not count nodes under way as the minimum', nodes: ['idle', 'starting'], decision: NONE },
    { what: 'does not count leaving nodes as the minimum', nodes: ['idle', 'leaving'], decision: NONE },
    {
      what: 'shrinks even if it must not grow',
      nodes: ['half', 'idle'],
      facts: { growAfter: NOW + 1 },
      decision: shrink(1),
    },

    { what: 'replaces missing nodes', nodes: ['half'], facts: { minInstances: 3 }, decision: replace(2) },
    { what: 'replaces broken nodes', nodes: ['half', 'broken'], facts: { minInstances: 2 }, decision: replace(1) },
    { what: 'replaces leaving nodes', nodes: ['half', 'leaving'], facts: { minInstances: 2 }, decision: replace(1) },
    { what: 'replaces once', nodes: ['half', 'starting'], facts: { minInstances: 2 }, decision: NONE },
    { what: 'replaces all', nodes: ['broken', 'broken'], facts: { minInstances: 2 }, decision: replace(2) },
    {
      what: 'replaces before it grows',
      nodes: ['full'],
      facts: { minInstances: 2, ...waiting(9) },
      decision: replace(1),
    },
    {
      what: 'does not replace after a failure',
      nodes: ['half'],
      facts: { minInstances: 2, growAfter: NOW + 1 },
      decision: NONE,
    },

    {
      what: 'obeys the maximum if the minimum contradicts it',
      nodes: ['half'],
      facts: { minInstances: 5, maxInstances: 2 },
      decision: replace(1),
    },
    {
      what: 'removes surplus above the maximum at once',
      nodes: ['half', 'fresh', 'fresh'],
      facts: { maxInstances: 2 },
      decision: trim(2),
    },
    {
      what: 'removes surplus although runs wait for others, idle nodes first and then the emptiest',
      nodes: ['half', 'full', 'fresh', 'full', 'half'],
      facts: { maxInstances: 2, ...waiting(5) },
      decision: trim(2, 4, 0),
    },
    {
      what: 'removes surplus even if it must not grow',
      nodes: ['full', 'full'],
      facts: { maxInstances: 1, growAfter: NOW + 1 },
      decision: trim(1),
    },
    {
      what: 'removes no surplus twice',
      nodes: ['full', 'full', 'leaving', 'leaving'],
      facts: { maxInstances: 2, ...waiting(5) },
      decision: NONE,
    },
    {
      what: 'removes no node that starts',
      nodes: ['full', 'full', 'starting'],
      facts: { maxInstances: 2 },
      decision: NONE,
    },
    {
      what: 'grows to a minimum that was raised',
      nodes: ['half'],
      facts: { minInstances: 3, minBeforeResize: 1 },
      decision: grow(2),
    },
    {
      what: 'counts nodes under way to a minimum that was raised',
      nodes: ['half', 'starting'],
      facts: { minInstances: 3, minBeforeResize: 1 },
      decision: grow(1),
    },
    {
      what: 'replaces lost nodes before it grows to a minimum that was raised',
      nodes: ['half', 'broken'],
      facts: { minInstances: 4, minBeforeResize: 2 },
      decision: replace(1),
    },
    {
      what: 'does not grow to a minimum that was raised after a failure',
      nodes: ['half'],
      facts: { minInstances: 3, minBeforeResize: 1, growAfter: NOW + 1 },
      decision: NONE,
    },
    {
      what: 'replaces nodes missing to a minimum that was lowered',
      nodes: ['broken'],
      facts: { minInstances: 1, minBeforeResize: 3 },
      decision: replace(1),
    },
    {
      what: 'has no free slots if the number of runs was lowered',
      nodes: ['full', 'half'],
      facts: { maxParallelJobs: 1, ...waiting(1) },
      decision: grow(1),
    },
  ])('$what', ({ nodes, facts, decision }) => {
    expect(decideScaling(factsOf({ clusterType, nodes: nodesOf(role, nodes), ...facts }))).toEqual(decision);
  });

  it.each(CLUSTER_STATUSES)('decides what its status %s allows', (status) => {
    const decide = (nodes: What[], changed: Partial<ScalingFacts>) =>
      decideScaling(factsOf({ clusterType, status, nodes: nodesOf(role, nodes), ...changed }));
    const grows = status === 'RUNNING' || status === 'RESIZING_UP';
    expect(decide(['full'], waiting(1))).toEqual(grows ? grow(1) : NONE);
    expect(decide(['half', 'idle'], {})).toEqual(status === 'RUNNING' ? shrink(1) : NONE);
    expect(decide(['half'], { minInstances: 2 })).toEqual(status === 'RUNNING' ? replace(1) : NONE);
    // A user does not wait for the end of a resize.
    const isUp = grows || status === 'RESIZING_DOWN';
    expect(decide(['half'], { minInstances: 2, minBeforeResize: 1 })).toEqual(isUp ? grow(1) : NONE);
    expect(decide(['full', 'full'], { maxInstances: 1 })).toEqual(isUp ? trim(1) : NONE);
  });
});

describe('a cluster of the type CLUSTER', () => {
  const decide = (workers: What[], changed: Partial<ScalingFacts> = {}, master: What = 'half') =>
    decideScaling(
      factsOf({
        clusterType: 'CLUSTER',
        // As in a real cluster, workers and the master have different ids, and a worker has no slots for runs.
        nodes: [
          ...nodesOf('worker', workers).map((node) => ({ ...node, busySlots: 0 })),
          ...nodesOf('master', [master]).map((node) => ({ ...node, nodeId: 99 })),
        ],
        ...changed,
      }),
    );
  const pending = (pendingCores: number, since = 0) => ({ pendingCores, pendingSince: NOW - since });

  it.each<Case & { master?: What }>([
    { what: 'keeps its size while no cores are requested', nodes: ['half'], decision: NONE },
    { what: 'grows by a worker for one core', nodes: ['full'], facts: pending(1), decision: grow(1) },
    { what: 'grows by the workers that the cores need', nodes: ['full'], facts: pending(17), decision: grow(3) },
    { what: 'grows to the maximum', nodes: ['full'], facts: pending(2 ** 31), decision: grow(3) },
    { what: 'counts workers under way', nodes: ['full', 'starting'], facts: pending(8), decision: NONE },
    { what: 'adds to workers under way', nodes: ['full', 'starting'], facts: pending(9), decision: grow(1) },
    { what: 'waits for the allocation of free cores', nodes: ['half'], facts: pending(4), decision: NONE },
    { what: 'grows if free cores do not suit', nodes: ['half'], facts: pending(4, START), decision: grow(1) },
    { what: 'does not grow for waiting runs', nodes: ['full'], facts: { waitingRuns: 9 }, decision: NONE },
    { what: 'does not grow without a master', nodes: ['full'], facts: pending(8), master: 'broken', decision: NONE },
    { what: 'removes a worker', nodes: ['half', 'idle'], decision: shrink(1) },
    { what: 'removes one at a time', nodes: ['half', 'idle', 'idle'], decision: shrink(2) },
    { what: 'removes none while cores are requested', nodes: ['half', 'idle'], facts: pending(8), decision: NONE },
    { what: 'removes none while a run waits', nodes: ['half', 'idle'], facts: { waitingRuns: 1 }, decision: NONE },
    { what: 'keeps the minimum of workers', nodes: ['idle'], decision: NONE },
    { what: 'removes none without a master', nodes: ['half', 'idle'], master: 'broken', decision: NONE },
    {
      what: 'removes all workers above the maximum at once, those with the fewest used cores first',
      nodes: ['full', 'half', 'full', 'idle'],
      facts: { maxInstances: 2, ...pending(8) },
      decision: trim(3, 1),
    },
    {
      what: 'removes no surplus without a master',
      nodes: ['full', 'idle'],
      facts: { maxInstances: 1 },
      master: 'broken',
      decision: NONE,
    },
    {
      what: 'grows to a minimum that was raised without a core that is requested',
      nodes: ['half'],
      facts: { minInstances: 3, minBeforeResize: 1 },
      decision: grow(2),
    },
    { what: 'replaces a worker', nodes: ['half', 'broken'], facts: { minInstances: 2 }, decision: replace(1) },
    {
      what: 'removes a worker whose cores were free on another for the timeout',
      nodes: ['half', 'half', 'full'],
      facts: { spareWorkerSince: NOW - TIMEOUT },
      decision: shrink(1),
    },
    {
      what: 'removes no spare worker sooner',
      nodes: ['half', 'half', 'full'],
      facts: { spareWorkerSince: NOW - TIMEOUT + 1 },
      decision: NONE,
    },
    {
      what: 'removes no worker that no longer fits on another',
      nodes: ['half', 'full', 'full'],
      facts: { spareWorkerSince: NOW - TIMEOUT },
      decision: NONE,
    },
  ])('$what', ({ nodes, facts, master, decision }) => {
    expect(decide(nodes, facts, master)).toEqual(decision);
  });

  it('knows if a worker could be removed', () => {
    const workers = (...words: What[]) => nodesOf('worker', words).map((node) => ({ ...node, busySlots: 0 }));
    expect(hasSpareWorker({ nodes: workers('half', 'half') })).toBe(true);
    expect(hasSpareWorker({ nodes: workers('full', 'fresh') })).toBe(true);
    expect(hasSpareWorker({ nodes: workers('half', 'full') })).toBe(false);
    expect(hasSpareWorker({ nodes: workers('half', 'leaving') })).toBe(false);
    expect(hasSpareWorker({ nodes: workers('half') })).toBe(false);
    expect(hasSpareWorker({ nodes: nodesOf('worker', ['half', 'half']) })).toBe(false);
    const scattered = workers('half', 'half', 'half').map((node) => ({ ...node, usedCores: 5 }));
    expect(hasSpareWorker({ nodes: scattered })).toBe(false);
  });
});

const isOut = ({ phase }: NodeFacts): boolean => phase === 'leaving' || phase === 'broken';

describe('a decision from any facts', () => {
  function drawn(random: SeededRandom): ScalingFacts {
    const clusterType = random.pick(CLUSTER_TYPES);
    const roles = { PLATFORM: 'single', STANDALONE: 'master-and-workers', CLUSTER: 'worker' } as const;
    const maxParallelJobs = random.between(1, 3);
    const nodes = Array.from({ length: random.below(8) }, (_, nodeNumber): NodeFacts => {
      const busySlots = clusterType === 'CLUSTER' ? 0 : random.below(maxParallelJobs + 1);
      const usedCores = random.pick([0, 0, 4, 8]);
      return {
        nodeId: 100 + nodeNumber,
        nodeNumber,
        role: clusterType === 'CLUSTER' && nodeNumber === 0 ? 'master' : roles[clusterType],
        phase: random.pick(['ready', 'ready', 'ready', 'starting', 'leaving', 'broken']),
        busySlots,
        usedCores,
        cores: 8,
        idleSince: busySlots + usedCores > 0 ? null : NOW - random.below(2 * TIMEOUT),
      };
    });
    const past = (limit: number) => random.pick([null, NOW - random.below(limit)]);
    return factsOf({
      clusterType,
      status: random.pick(['RUNNING', 'RUNNING', ...CLUSTER_STATUSES]),
      minInstances: random.pick([1, 1, 2, 3, 6]),
      maxInstances: random.between(1, 12),
      minBeforeResize: random.pick([null, null, 1, 3]),
      maxParallelJobs,
      waitingRuns: random.pick([0, 0, 0, 1, 3, 30]),
      oldestWaitingSince: past(2 * START),
      pendingCores: random.pick([0, 0, 1, 9, 2 ** 31]),
      pendingSince: past(2 * START),
      spareWorkerSince: past(2 * TIMEOUT),
      growAfter: random.pick([null, NOW - 1, NOW, NOW + 1]),
      recentRunMs: random.pick([null, 0, START / 10, 10 * START]),
      nodes: random.shuffled(nodes),
    });
  }

  const instancesOf = ({ clusterType, nodes }: ScalingFacts) =>
    clusterType === 'CLUSTER' ? nodes.filter(({ role }) => role === 'worker') : nodes;

  function check(facts: ScalingFacts, decision: ScalingDecision): void {
    const instances = instancesOf(facts);
    const ready = instances.filter(({ phase }) => phase === 'ready');
    const there = ready.length + instances.filter(({ phase }) => phase === 'starting').length;
    const min = Math.min(facts.minInstances, facts.maxInstances);
    switch (decision.kind) {
      case 'none':
        return;
      case 'grow':
      case 'replace':
        expect(decision.by).toBeGreaterThan(0);
        expect(there + decision.by).toBeLessThanOrEqual(decision.kind === 'grow' ? facts.maxInstances : min);
        expect(facts.growAfter ?? 0).toBeLessThanOrEqual(NOW);
        if (decision.kind === 'replace') expect(facts.status === 'RUNNING' || facts.nodes.every(isOut)).toBe(true);
        else if (there + decision.by > min || (facts.minBeforeResize ?? min) >= min)
          expect(facts.clusterType === 'CLUSTER' ? facts.pendingCores : facts.waitingRuns).toBeGreaterThan(0);
        return;
      case 'trim': {
        const leaving = ready.filter(({ nodeId }) => decision.nodeIds.includes(nodeId));
        expect(leaving).toHaveLength(decision.nodeIds.length);
        expect(ready.length - leaving.length).toBe(facts.maxInstances);
        const fewest = Math.min(...ready.filter((node) => !leaving.includes(node)).map(({ busySlots }) => busySlots));
        expect(Math.max(...leaving.map(({ busySlots }) => busySlots))).toBeLessThanOrEqual(fewest);
        return;
      }
      case 'shrink': {
        expect(facts).toMatchObject({ status: 'RUNNING', waitingRuns: 0, pendingCores: 0 });
        expect(new Set(decision.nodeIds).size).toBe(decision.nodeIds.length);
        expect(ready.length - decision.nodeIds.length).toBeGreaterThanOrEqual(min);
        const leaving = ready.filter(({ nodeId }) => decision.nodeIds.includes(nodeId));
        expect(leaving).toHaveLength(decision.nodeIds.length);
        expect(leaving.every(({ busySlots }) => busySlots === 0)).toBe(true);
        if (facts.clusterType === 'CLUSTER') expect(leaving).toHaveLength(1);
        else expect(leaving.every(({ idleSince }) => idleSince !== null)).toBe(true);
      }
    }
  }

  it('never breaks minimum or maximum, grows only for waiting work, and takes no node from a run below the maximum', () => {
    const random = seededRandom(18);
    const kinds = new Map<string, number>();
    for (let round = 0; round < 5_000; round += 1) {
      const facts = drawn(random);
      const decision = decideScaling(facts);
      kinds.set(decision.kind, (kinds.get(decision.kind) ?? 0) + 1);
      check(facts, decision);
      expect(decideScaling({ ...facts, nodes: random.shuffled(facts.nodes) })).toEqual(decision);
    }
    for (const kind of ['none', 'grow', 'shrink', 'trim', 'replace']) expect(kinds.get(kind)).toBeGreaterThan(10);
  });

  it('is not repeated while it is carried out', () => {
    const random = seededRandom(19);
    for (let round = 0; round < 5_000; round += 1) {
      const facts = drawn(random);
      const decision = decideScaling(facts);
      const [nodes, status] = underWay(facts, decision);
      const next = decideScaling({ ...facts, nodes, status });
      // Nodes missing to the minimum come first; growth for the rest of the work comes after that.
      const isToMinimum = decision.kind === 'replace' || (decision.kind === 'grow' && facts.minBeforeResize !== null);
      if (isToMinimum) expect(['replace', 'trim']).not.toContain(next.kind);
      // A user's growth does not wait for the end of a resize.
      else if (next.kind !== 'grow' || facts.minBeforeResize === null) expect(next).toEqual(NONE);
    }
  });

  function underWay(
    { clusterType, nodes, status }: ScalingFacts,
    decision: ScalingDecision,
  ): [NodeFacts[], ScalingFacts['status']] {
    switch (decision.kind) {
      case 'none':
        return [[...nodes], status];
      case 'shrink':
      case 'trim': {
        const left = nodes.map((node) =>
          decision.nodeIds.includes(node.nodeId) ? { ...node, phase: 'leaving' as const } : node,
        );
        return [left, decision.kind === 'shrink' || status === 'RUNNING' ? 'RESIZING_DOWN' : status];
      }
      case 'grow':
      case 'replace': {
        const role = clusterType === 'CLUSTER' ? 'worker' : 'single';
        const asked = Array.from({ length: decision.by }, (_, index): NodeFacts => ({
          ...(nodesOf(role, ['starting'])[0] as NodeFacts),
          nodeId: 200 + index,
          nodeNumber: 100 + index,
          cores: Math.max(0, ...nodes.filter((node) => node.role === role).map(({ cores }) => cores)),
        }));
        return [[...nodes, ...asked], decision.kind === 'grow' ? 'RESIZING_UP' : status];
      }
    }
  }

  it('lets no run starve below the maximum', () => {
    const random = seededRandom(20);
    for (let round = 0; round < 5_000; round += 1) {
      const facts = drawn(random);
      const waits = facts.oldestWaitingSince !== null && NOW - facts.oldestWaitingSince >= START;
      const there = facts.nodes.filter(({ phase }) => phase === 'ready' || phase === 'starting');
      const free = there.reduce((slots, { busySlots, phase }) => {
        return slots + facts.maxParallelJobs - (phase === 'ready' ? busySlots : 0);
      }, 0);
      const mayGrow =
        facts.status === 'RESIZING_UP' && (facts.growAfter ?? 0) <= NOW && there.length < facts.maxInstances;
      if (facts.clusterType === 'CLUSTER' || !waits || !mayGrow || facts.waitingRuns <= free) continue;
      // Without any node, a replacement up to the minimum comes first.
      expect(['grow', ...(facts.nodes.every(isOut) ? ['replace'] : [])]).toContain(decideScaling(facts).kind);
    }
  });
});
