import { overloaded } from '../../../../platform/kernel/errors/domain-error';
import { FairBulkhead } from '../../../../platform/kernel/process/fair-bulkhead';

const CODE = 'AUTH.BUSY';

/** Limits per user name. Together with the longest delay, they bound how fast a password can be guessed. */
const LIMITS_PER_NAME = { code: CODE, maxConcurrent: 4, maxQueued: 40, maxQueuedPerParty: 32, queueTimeoutMs: 10_000 };

/** Over all user names, since each delayed attempt holds a connection. */
const MAX_WAITING = 256;
const RETRY_AFTER_SECONDS = 10;

/** Delays login attempts of user names that have failed often. Throws 503 `AUTH.BUSY` if too many are waiting. */
export class LoginDelays {
  private readonly byName = new Map<string, FairBulkhead>();
  private waiting = 0;

  /** Waits for a free slot of the user name, and then for `ms` milliseconds. */
  async wait(name: string, network: string, ms: number): Promise<void> {
    if (this.waiting >= MAX_WAITING)
      throw overloaded(CODE, 'Too many login attempts are waiting.', RETRY_AFTER_SECONDS);
    const bulkhead = this.byName.get(name) ?? new FairBulkhead(LIMITS_PER_NAME);
    this.byName.set(name, bulkhead);
    this.waiting += 1;
    try {
      await bulkhead.run(network, () => new Promise((resolve) => setTimeout(resolve, ms)));
    } finally {
      this.waiting -= 1;
      if (bulkhead.isIdle) this.byName.delete(name);
    }
  }
}
