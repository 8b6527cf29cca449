import type { Ask } from './work-questions';

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
   * Returns false if a pass would find nothing to do. This must be cheap, because it is asked before each pass, by every worker and
   * without the lock. A reconciler that cannot tell has a pass each time.
   * @param _ask asks with one statement for all reconcilers of a tick
   */
  hasWork(_ask: Ask): Promise<boolean> {
    return Promise.resolve(true);
  }

  /**
   * @param signal aborts at the deadline and when the process stops
   * @returns `more` if a limit ended the pass before its work was done, so that the next one follows soon
   */
  abstract reconcile(signal: AbortSignal): Promise<void | 'more'>;
}
