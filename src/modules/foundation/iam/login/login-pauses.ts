import { overloaded } from '../../../../platform/kernel/errors/domain-error';
import { FairBulkhead } from '../../../../platform/kernel/process/fair-bulkhead';

const CODE = 'AUTH.BUSY';

/** Of one name. With the longest pause these are what bounds how fast it can be guessed at from everywhere. */
const OF_ONE_NAME = { code: CODE, atOnce: 4, waiting: 40, waitingOfOne: 32, patienceMs: 10_000 };

/** Of all names together: each holds a connection. */
const MOST = 256;
const RETRY_AFTER_SECONDS = 10;

/** The pauses before attempts at names that have failed often. Throws 503 `AUTH.BUSY` when too many are held up. */
export class LoginPauses {
  private readonly byName = new Map<string, FairBulkhead>();
  private held = 0;

  /** Waits for a place among the pauses of the name, and then for `ms` milliseconds. */
  async pause(name: string, network: string, ms: number): Promise<void> {
    if (this.held >= MOST) throw overloaded(CODE, 'Too many login attempts are waiting.', RETRY_AFTER_SECONDS);
    const ofName = this.byName.get(name) ?? new FairBulkhead(OF_ONE_NAME);
    this.byName.set(name, ofName);
    this.held += 1;
    try {
      await ofName.run(network, () => new Promise((resolve) => setTimeout(resolve, ms)));
    } finally {
      this.held -= 1;
      if (ofName.isIdle) this.byName.delete(name);
    }
  }
}
