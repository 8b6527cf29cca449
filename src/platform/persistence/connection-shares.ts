import type { ContextCaller } from '../context/request-context';
import { FairBulkhead } from '../process/fair-bulkhead';

/** Of the pool, what one caller may use at once, and all callers of a tenant together. */
const OF_CALLER = 1 / 4;
const OF_TENANT = 1 / 2;

const WAITING = {
  code: 'DATABASE.BUSY',
  waiting: 1_000,
  waitingOfOne: 1_000,
  // As long as the pool lets others wait.
  patienceMs: 10_000,
};

/**
 * Divides the connections of a pool among callers. What one caller does may take long, or wait for locks that this same
 * caller holds: it then keeps waiting what else this caller asks for, and leaves connections to everybody else.
 */
export class ConnectionShares {
  private readonly ofCallers: Shares;
  private readonly ofTenants: Shares;

  constructor(poolSize: number) {
    this.ofCallers = new Shares(Math.max(1, Math.floor(poolSize * OF_CALLER)));
    this.ofTenants = new Shares(Math.max(1, Math.floor(poolSize * OF_TENANT)));
  }

  /** Waits until the caller may use one more connection, and does so until the returned function is called. */
  async enter({ name, tenantId }: ContextCaller): Promise<() => void> {
    const leaveOwn = await this.ofCallers.enter(name, name);
    if (tenantId === null) return leaveOwn;
    try {
      const leave = await this.ofTenants.enter(tenantId, name);
      return () => {
        leave();
        leaveOwn();
      };
    } catch (error) {
      leaveOwn();
      throw error;
    }
  }
}

/** A share for each who uses it at the moment. */
class Shares {
  private readonly byHolder = new Map<string, FairBulkhead>();

  constructor(private readonly atOnce: number) {}

  /** @param party who takes turns with others in the share */
  async enter(holder: string, party: string): Promise<() => void> {
    const share = this.byHolder.get(holder) ?? new FairBulkhead({ ...WAITING, atOnce: this.atOnce });
    this.byHolder.set(holder, share);
    const leave = await share.enter(party);
    return () => {
      leave();
      if (share.isIdle && this.byHolder.get(holder) === share) this.byHolder.delete(holder);
    };
  }
}
