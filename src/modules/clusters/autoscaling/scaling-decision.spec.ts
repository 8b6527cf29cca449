import { decideScaling, type NodeFacts, type ScalingFacts } from './scaling-decision';

const node = (nodeNumber: number, facts: Partial<NodeFacts> = {}): NodeFacts => ({
  nodeId: 100 + nodeNumber,
  nodeNumber,
  role: 'single',
  phase: 'ready',
  busySlots: 0,
  usedCores: 0,
  cores: 8,
  idleSince: null,
  ...facts,
});

const facts = (changed: Partial<ScalingFacts> = {}): ScalingFacts => ({
  now: 1_000_000,
  clusterType: 'PLATFORM',
  status: 'RUNNING',
  minInstances: 1,
  maxInstances: 5,
  maxParallelJobs: 2,
  cleanUpTimeoutMs: 60_000,
  waitingRuns: 0,
  oldestWaitingSince: null,
  pendingCores: 0,
  pendingSince: null,
  growAfter: null,
  startTimeMs: 30_000,
  recentRunMs: null,
  nodes: [node(0)],
  ...changed,
});

it('grows by the nodes that waiting runs fill', () => {
  const decision = decideScaling(facts({ waitingRuns: 5, nodes: [node(0, { busySlots: 2 })] }));
  expect(decision).toEqual({ kind: 'grow', by: 3, reason: '5 runs without a slot' });
});
