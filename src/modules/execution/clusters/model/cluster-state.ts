import { mayFollow, type TransitionTable } from '../../../../platform/kernel/history/transition-table';

export const CLUSTER_STATUSES = [
  'INITIATING',
  'RUNNING',
  'STOPPING',
  'STOPPED',
  'DESTROYING',
  'DESTROYED',
  'ERROR',
  'RESIZING_UP',
  'RESIZING_DOWN',
] as const;
export type ClusterStatus = (typeof CLUSTER_STATUSES)[number];

export const NODE_STATUSES = [
  'INITIATING',
  'RUNNING',
  'STOPPING',
  'STOPPED',
  'DESTROYING',
  'DESTROYED',
  'ERROR',
] as const;
export type NodeStatus = (typeof NODE_STATUSES)[number];

export const CLUSTER_TYPES = ['PLATFORM', 'STANDALONE', 'CLUSTER'] as const;
export type ClusterType = (typeof CLUSTER_TYPES)[number];

/**
 * DESTROYED → STOPPED is enable after disable: the way to run a destroyed cluster again.
 *
 * ```text
 * INITIATING ◄───────────┐
 *   └────────────────────│───────────┬──┐
 * RUNNING ◄──────────────│───────────┤  │
 *   └──────────────┬─────│──┬──┬──┬──│──┤
 * STOPPING ◄───────┘     │  │  │  │  │  │
 *   └─────────────────┬──│──│──│──│──│──┤
 * STOPPED ◄───────────┤  │  │  │  │  │  │
 *   └─────────────────│──┴──┼──│──│──│──┤
 * DESTROYING ◄────────│─────┤  │  │  │  │
 *   └──────────────┬──│─────│──│──│──│──┤
 * DESTROYED ◄──────┘  │     │  │  │  │  │
 *   └─────────────────┘     │  │  │  │  │
 * ERROR ◄───────────────────│──│──│──│──┤
 *   └───────────────────────┘  │  │  │  │
 * RESIZING_UP ◄────────────────│──┤  │  │
 *   └──────────────────────────│──┼──┼──┤
 * RESIZING_DOWN ◄──────────────┘  │  │  │
 *   └─────────────────────────────┴──┴──┘
 * ```
 */
export const CLUSTER_TRANSITIONS: TransitionTable<ClusterStatus> = {
  INITIATING: ['RUNNING', 'ERROR'],
  RUNNING: ['STOPPING', 'DESTROYING', 'ERROR', 'RESIZING_UP', 'RESIZING_DOWN'],
  STOPPING: ['STOPPED', 'ERROR'],
  STOPPED: ['INITIATING', 'DESTROYING', 'ERROR'],
  DESTROYING: ['DESTROYED', 'ERROR'],
  DESTROYED: ['STOPPED'],
  ERROR: ['DESTROYING'],
  // It is entered again, with another reason, while no node is available.
  RESIZING_UP: ['RUNNING', 'ERROR', 'RESIZING_UP'],
  RESIZING_DOWN: ['RUNNING', 'ERROR', 'RESIZING_UP'],
};

/**
 * A node that is DESTROYED never comes back.
 *
 * ```text
 * INITIATING ◄────────────────────┐
 *   └───────────┬──┬──┬──┬──┬──┐  │
 * RUNNING ◄─────┘  │  │  │  │  │  │
 *   └──────────────┼──┼──┼──┼──┤  │
 * STOPPING ◄───────│──┤  │  │  │  │
 *   └──────────────┼──│──┼──┤  │  │
 * STOPPED ◄────────│──│──┤  │  │  │
 *   └──────────────┼──│──│──┼──┼──┤
 * DESTROYING ◄─────│──│──│──┤  │  │
 *   └──────────────┼──│──│──│──┤  │
 * DESTROYED ◄──────│──│──│──│──┤  │
 * ERROR ◄──────────┘  │  │  │  │  │
 *   └─────────────────┴──┴──┴──┴──┘
 * ```
 */
export const NODE_TRANSITIONS: TransitionTable<NodeStatus> = {
  INITIATING: ['RUNNING', 'STOPPING', 'STOPPED', 'DESTROYING', 'DESTROYED', 'ERROR'],
  RUNNING: ['STOPPING', 'STOPPED', 'DESTROYING', 'DESTROYED', 'ERROR'],
  STOPPING: ['STOPPED', 'DESTROYING', 'ERROR'],
  STOPPED: ['INITIATING', 'DESTROYING', 'DESTROYED', 'ERROR'],
  DESTROYING: ['DESTROYED', 'ERROR'],
  DESTROYED: [],
  ERROR: ['INITIATING', 'STOPPING', 'STOPPED', 'DESTROYING', 'DESTROYED'],
};

/**
 * Operations that users request, with the states that they require and the state that they begin with. A request during a
 * resize cancels the resize: the cluster is RUNNING in between, in the same transaction.
 */
export const CLUSTER_OPERATIONS = {
  start: { from: ['STOPPED'], to: 'INITIATING' },
  stop: { from: ['RUNNING', 'RESIZING_UP', 'RESIZING_DOWN'], to: 'STOPPING' },
  destroy: { from: ['RUNNING', 'RESIZING_UP', 'RESIZING_DOWN', 'STOPPED', 'ERROR'], to: 'DESTROYING' },
} as const satisfies Record<string, { from: readonly ClusterStatus[]; to: ClusterStatus }>;

export type ClusterOperation = keyof typeof CLUSTER_OPERATIONS;

export function clusterMayBecome(from: ClusterStatus, to: ClusterStatus): boolean {
  return mayFollow(CLUSTER_TRANSITIONS, from, to);
}

export function nodeMayBecome(from: NodeStatus, to: NodeStatus): boolean {
  return mayFollow(NODE_TRANSITIONS, from, to);
}

/** Statuses in which runs get the free slots. */
export const GIVES_SLOTS: readonly ClusterStatus[] = ['RUNNING', 'RESIZING_UP', 'RESIZING_DOWN'];
/** Statuses in which nodes are added or removed with the load. */
export const RESIZING: readonly ClusterStatus[] = ['RESIZING_UP', 'RESIZING_DOWN'];
/** Statuses in which a cluster takes no runs, and waiting runs are ended. */
export const REFUSES_RUNS: readonly ClusterStatus[] = ['DESTROYING', 'DESTROYED', 'ERROR'];

/** Statuses in which a user may change the number of nodes. */
export const RESIZABLE = ['RUNNING', 'RESIZING_UP', 'RESIZING_DOWN'] as const satisfies readonly ClusterStatus[];

export function isResizable(status: ClusterStatus): status is (typeof RESIZABLE)[number] {
  return (RESIZABLE as readonly ClusterStatus[]).includes(status);
}

/** Statuses in which every field of a cluster may change. */
export const EDITABLE_STATUSES: readonly ClusterStatus[] = ['DESTROYED', 'ERROR'];
