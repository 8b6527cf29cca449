import { nameEnum } from '../../../../platform/kernel/dto/named-enums';
import { mayFollow, predecessors, type TransitionTable } from '../../../../platform/kernel/history/transition-table';
import type { RunOutcome, RunState } from '../../../../../libs/contracts/agent-protocol';

export const RUN_STATUSES = nameEnum(
  'JobStatus',
  ['SUBMITTED', 'RUNNING', 'DONE', 'ERROR', 'TERMINATED', 'STOPPING', 'STOPPED', 'KILLING', 'KILLED'],
  'Status of a job or of a notebook instance.',
  {
    SUBMITTED: 'it waits for a slot on a node',
    RUNNING: 'its driver runs',
    DONE: 'it succeeded',
    ERROR: 'it failed; `reason_code` and `reason` say why',
    TERMINATED: 'it was ended because of its cluster, its node or its timeout',
    STOPPING: 'a stop was requested and its driver still runs',
    STOPPED: 'it was stopped on request',
    KILLING: 'a kill was requested and its driver still runs',
    KILLED: 'it was killed on request',
  },
);
export type RunStatus = (typeof RUN_STATUSES)[number];

/**
 * A run that ends by itself while it is being stopped keeps its own final state.
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

export const RUN_STEPS = nameEnum(
  'RunStep',
  ['submit', 'schedule', 'report', 'ready', 'stop', 'stop-jobs', 'reconcile'],
  'What happened when a run entered a state.',
  {
    submit: 'a request submitted the run',
    schedule: 'slots were assigned, or the run could not get one any more',
    report: 'the agent of its node reported it',
    ready: 'its process said that it accepts calls',
    stop: 'a request stopped the run',
    'stop-jobs': 'the workflow that stops all jobs of a cluster',
    reconcile: 'its node was found gone',
  },
);
export type RunStep = (typeof RUN_STEPS)[number];

/** States in which a stop can be requested. */
export const STOPPABLE: readonly RunStatus[] = predecessors(RUN_TRANSITIONS, 'STOPPING');

export const STATUS_OF_OUTCOME = {
  done: 'DONE',
  error: 'ERROR',
  terminated: 'TERMINATED',
  stopped: 'STOPPED',
  killed: 'KILLED',
} as const satisfies Record<RunOutcome, RunStatus>;

/** The event that makes a run RUNNING. `accepted` and `running` are reports of the agent, `ready` is a frame of the channel. */
export type RunningOnce = 'accepted' | 'running' | 'ready';

/**
 * Returns the status for a state that the agent reports of an unfinished run; null if it does not change the status. A job is
 * RUNNING as soon as its process runs, even before it starts Spark: it holds a slot and can do work.
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
