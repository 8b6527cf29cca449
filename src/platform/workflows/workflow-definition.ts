/** What a step knows of its execution. */
export interface WorkflowContext {
  instanceId: number;
  tenantId: string;
  clusterId: number;
  /** Who asked; null for the platform itself. */
  actorUserId: number | null;
  correlationId: string;
  /** Aborted when the lease is lost or the process stops; long calls must heed it. */
  signal: AbortSignal;
}

/** `superseded`: another operation has replaced this one, so it ends without a trace on its subject. */
export type StepOutcome = { kind: 'done' } | { kind: 'superseded' } | { kind: 'wait'; ms: number };

export const Step = {
  done: { kind: 'done' } as StepOutcome,
  superseded: { kind: 'superseded' } as StepOutcome,
  wait: (ms: number): StepOutcome => ({ kind: 'wait', ms }),
};

/** A small idempotent piece of a workflow: it reads the state again, acts, and commits what it learnt. */
export interface WorkflowStep {
  name: string;
  run(context: WorkflowContext): Promise<StepOutcome>;
}

/** Which step failed for good, and why. */
export interface WorkflowFailure {
  step: string;
  message: string;
}

export interface WorkflowDefinition {
  steps: readonly WorkflowStep[];
  /** Tries of one step before its failure is final. */
  attempts: number;
  backoffMs: number;
  /** Cleans up after a final failure and marks the subject; idempotent, tried again until it succeeds or its time is over. */
  compensate(context: WorkflowContext, failure: WorkflowFailure): Promise<void>;
  /** How long the clean-up may be tried, milliseconds. */
  compensationMs: number;
  /**
   * Marks the subject where the clean-up could not be done, and says what is left behind; idempotent. Calls nobody outside
   * of the platform: it is what ends the workflow.
   * @param problem why the clean-up could not be done
   */
  giveUp(context: WorkflowContext, failure: WorkflowFailure, problem: string): Promise<void>;
}

/** An error that no retry will cure. */
export class PermanentError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'PermanentError';
  }
}
