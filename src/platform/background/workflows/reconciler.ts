/**
 * A periodic task that reconciles the state. The worker finds all reconcilers among its providers. A pass may be aborted at
 * any time, and this worker or another one repeats it.
 */
export abstract class Reconciler {
  /** Name in the log, and of the lock: one worker at a time runs a pass. */
  abstract readonly name: string;
  /** Time from the beginning of one pass to that of the next, or a multiple of it if a pass takes longer; milliseconds. */
  abstract readonly intervalMs: number;
  /** Time after which a pass is aborted, milliseconds. */
  abstract readonly deadlineMs: number;

  /**
   * @param signal aborts at the deadline and when the process stops
   * @returns `more` if a limit ended the pass before its work was done, so that the next one follows soon
   */
  abstract reconcile(signal: AbortSignal): Promise<void | 'more'>;
}
