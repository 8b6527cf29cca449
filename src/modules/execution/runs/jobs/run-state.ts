import { mayFollow, predecessors, type TransitionTable } from '../../../../platform/kernel/history/transition-table';
import type { RunOutcome, RunState } from '../../../../../libs/contracts/agent-protocol';

export const RUN_STATUSES = [
  'SUBMITTED',
  'RUNNING',
  'DONE',
  'ERROR',
  'TERMINATED',
  'STOPPING',
  'STOPPED',
  'KILLING',
  'KILLED',
] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/**
 * A run that ends while a stop is on its way keeps its own end: the truth wins over the wish.
 *
 * ```text
 * SUBMITTED
 *   └────────────────────────┬──┬──┐
 * RUNNING ◄──────────────────┘  │  │
 *   └───────────────────────────┼──┤
 * STOPPING ◄────────────────────┘  │
 *   └────────────────────────┬──┬──┤
 * KILLING ◄──────────────────┘  │  │
 *   └───────────────────────────┼──┤
 * DONE, ERROR, TERMINATED ◄─────│──┘
 * STOPPED, KILLED ◄─────────────┘
 * ```
 */
export const RUN_TRANSITIONS: TransitionTable<RunStatus> = {
  SUBMITTED: ['RUNNING', 'DONE', 'ERROR', 'TERMINATED', 'STOPPING'],
  RUNNING: ['DONE', 'ERROR', 'TERMINATED', 'STOPPING'],
  STOPPING: ['STOPPED', 'KILLING', 'KILLED', 'DONE', 'ERROR', 'TERMINATED'],
  KILLING: ['KILLED', 'STOPPED', 'DONE', 'ERROR', 'TERMINATED'],
  DONE: [],
  ERROR: [],
  TERMINATED: [],
  STOPPED: [],
  KILLED: [],
};

export function runMayBecome(from: RunStatus, to: RunStatus): boolean {
  return mayFollow(RUN_TRANSITIONS, from, to);
}

export function isFinished(status: RunStatus): boolean {
  return RUN_TRANSITIONS[status].length === 0;
}

/** States in which a run can be asked to stop. */
export const STOPPABLE: readonly RunStatus[] = predecessors(RUN_TRANSITIONS, 'STOPPING');

export const STATUS_OF_OUTCOME = {
  done: 'DONE',
  error: 'ERROR',
  terminated: 'TERMINATED',
  stopped: 'STOPPED',
  killed: 'KILLED',
} as const satisfies Record<RunOutcome, RunStatus>;

/** The news of its process that makes a run RUNNING; `ready` is a frame of its channel. */
export type RunningOnce = 'accepted' | 'running' | 'ready';

/**
 * Status behind what the node's agent says of a run that goes on; null for one that it does not change. A job is RUNNING from when
 * its process runs, whether or not it ever begins Spark: it holds a slot and can do work.
 */
export function statusBehind(state: RunState, runningOnce: RunningOnce): RunStatus | null {
  switch (state) {
    case 'accepted':
      return runningOnce === 'accepted' ? 'RUNNING' : null;
    case 'running':
      return runningOnce === 'ready' ? null : 'RUNNING';
    case 'stopping':
      return 'STOPPING';
    case 'killing':
      return 'KILLING';
    case 'ended':
      return null;
  }
}
