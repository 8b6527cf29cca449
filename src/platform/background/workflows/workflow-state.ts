import type { TransitionTable } from '../../kernel/history/transition-table';

export type WorkflowExecutionState =
  | 'INIT'
  | 'LOCK'
  | 'SENT'
  | 'RECEIVED'
  | 'EXECUTING'
  | 'DONE'
  | 'ERROR'
  | 'TERMINATED';

/**
 * A worker may claim an execution before the relay has recorded that its job was sent. The claim records RECEIVED and
 * EXECUTING together. A worker that takes over a lost lease finds EXECUTING and leaves it. Nothing enters LOCK, which the
 * lookup table lists.
 *
 * ```text
 * INIT
 *   └────────────────────────┬──┐
 * SENT ◄─────────────────────┘  │
 *   └───────────────────────────┤
 * RECEIVED ◄────────────────────┘
 *   └────────────────────────┐
 * EXECUTING ◄────────────────┘
 *   └────────────────────────┐
 * DONE, ERROR, TERMINATED ◄──┘
 * LOCK
 * ```
 */
export const WORKFLOW_TRANSITIONS: TransitionTable<WorkflowExecutionState> = {
  INIT: ['SENT', 'RECEIVED'],
  SENT: ['RECEIVED'],
  RECEIVED: ['EXECUTING'],
  EXECUTING: ['DONE', 'ERROR', 'TERMINATED'],
  DONE: [],
  ERROR: [],
  TERMINATED: [],
  LOCK: [],
};
