/**
 * A periodic repair; the worker finds those among its providers. A pass may be cut short at any time and is repeated, by
 * this worker or another one.
 */
export abstract class Reconciler {
  /** Names it in the log, and its lock: one worker at a time runs a pass. */
  abstract readonly name: string;
  /** Pause between two passes, milliseconds. */
  abstract readonly intervalMs: number;
  /** A pass that takes longer is aborted, milliseconds. */
  abstract readonly deadlineMs: number;

  /**
   * @param signal aborts at the deadline and when the process stops
   * @returns `more` if a limit ended the pass before the work was done: the next one follows soon
   */
  abstract reconcile(signal: AbortSignal): Promise<void | 'more'>;
}
