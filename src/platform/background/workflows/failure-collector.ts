import { messageOf } from '../../kernel/errors/message-of';

/** Number of failures that an error lists at most. */
const MAX_LISTED = 10;

/** Runs the independent tasks of one pass and collects their failures: a task that fails does not stop the others. */
export class FailureCollector {
  private readonly errors: Error[] = [];
  private unlisted = 0;

  /** @param signal ends the pass: no further task begins */
  constructor(private readonly signal: AbortSignal) {}

  /** @param what names the task if it fails */
  async attempt(what: string, task: () => Promise<void>): Promise<void> {
    this.signal.throwIfAborted();
    try {
      await task();
    } catch (error) {
      if (this.errors.length < MAX_LISTED)
        this.errors.push(new Error(`${what}: ${messageOf(error)}`, { cause: error }));
      else this.unlisted += 1;
    }
  }

  /** Throws all failures in one error. */
  throwFailures(): void {
    if (this.errors.length === 0) return;
    const listed = this.errors.map(({ message }) => message).join('; ');
    throw new AggregateError(this.errors, this.unlisted > 0 ? `${listed}; ${this.unlisted} more` : listed);
  }
}
