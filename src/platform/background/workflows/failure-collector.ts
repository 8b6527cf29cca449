import { messageOf } from '../../kernel/errors/message-of';

/** How many problems an error lists. */
const MAX_LISTED = 10;

/** The failures of one pass, independent of each other: one that fails does not keep the others from being done. */
export class FailureCollector {
  private readonly errors: Error[] = [];
  private untold = 0;

  /** @param signal ends the pass: nothing further is attempted */
  constructor(private readonly signal: AbortSignal) {}

  /** @param what names the repair if it fails */
  async attempt(what: string, repair: () => Promise<void>): Promise<void> {
    this.signal.throwIfAborted();
    try {
      await repair();
    } catch (error) {
      if (this.errors.length < MAX_LISTED)
        this.errors.push(new Error(`${what}: ${messageOf(error)}`, { cause: error }));
      else this.untold += 1;
    }
  }

  /** Throws all failures in one error. */
  throwFailures(): void {
    if (this.errors.length === 0) return;
    const told = this.errors.map(({ message }) => message).join('; ');
    throw new AggregateError(this.errors, this.untold > 0 ? `${told}; ${this.untold} more` : told);
  }
}
