import {
  CLUSTER_OPERATIONS,
  CLUSTER_STATUSES,
  CLUSTER_TRANSITIONS,
  clusterMayBecome,
  NODE_STATUSES,
  NODE_TRANSITIONS,
  nodeMayBecome,
  RESIZING,
} from './cluster-state';

const CLUSTER_PAIRS = [
  'INITIATING>RUNNING',
  'INITIATING>ERROR',
  'RUNNING>STOPPING',
  'RUNNING>DESTROYING',
  'RUNNING>ERROR',
  'RUNNING>RESIZING_UP',
  'RUNNING>RESIZING_DOWN',
  'STOPPING>STOPPED',
  'STOPPING>ERROR',
  'STOPPED>INITIATING',
  'STOPPED>DESTROYING',
  'STOPPED>ERROR',
  'DESTROYING>DESTROYED',
  'DESTROYING>ERROR',
  'DESTROYED>STOPPED',
  'ERROR>DESTROYING',
  'RESIZING_UP>RUNNING',
  'RESIZING_UP>ERROR',
  'RESIZING_UP>RESIZING_UP',
  'RESIZING_DOWN>RUNNING',
  'RESIZING_DOWN>ERROR',
  'RESIZING_DOWN>RESIZING_UP',
];

describe('cluster states', () => {
  const pairs = CLUSTER_STATUSES.flatMap((from) => CLUSTER_STATUSES.map((to) => [from, to] as const));

  it.each(pairs)('%s to %s is allowed exactly when the specification says so', (from, to) => {
    expect(clusterMayBecome(from, to)).toBe(CLUSTER_PAIRS.includes(`${from}>${to}`));
  });

  it('lets every operation begin only where the table allows it', () => {
    for (const { from, to } of Object.values(CLUSTER_OPERATIONS)) {
      for (const status of from) {
        // A resize is cancelled first.
        const begins = RESIZING.includes(status) ? 'RUNNING' : status;
        if (begins !== status) expect(CLUSTER_TRANSITIONS[status]).toContain(begins);
        expect(CLUSTER_TRANSITIONS[begins]).toContain(to);
      }
    }
  });

  it('leaves no state without a way out but by decision', () => {
    for (const status of CLUSTER_STATUSES) expect(CLUSTER_TRANSITIONS[status].length).toBeGreaterThan(0);
  });
});

describe('node states', () => {
  it('ends in DESTROYED only', () => {
    const final = NODE_STATUSES.filter((status) => NODE_TRANSITIONS[status].length === 0);
    expect(final).toEqual(['DESTROYED']);
  });

  it('return a stopped or failed node to service through INITIATING', () => {
    expect(nodeMayBecome('STOPPED', 'INITIATING')).toBe(true);
    expect(nodeMayBecome('STOPPED', 'RUNNING')).toBe(false);
    expect(nodeMayBecome('ERROR', 'INITIATING')).toBe(true);
  });
});
