import type { ContextCaller } from '../context/request-context';
import { FairBulkhead } from '../process/fair-bulkhead';

/**
 * The parts of the pool that one caller, all users of a tenant, and all nodes of a tenant may use at once. Together, users and
 * nodes of one tenant leave a quarter to others, even in a process that serves both.
 */
const OF_CALLER = 1 / 4;
const OF_TENANT = { user: 1 / 2, node: 1 / 4 };

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
  private readonly ofTenants: Record<ContextCaller['kind'], Shares>;

  constructor(poolSize: number) {
    const shares = (part: number) => new Shares(Math.max(1, Math.floor(poolSize * part)));
    this.ofCallers = shares(OF_CALLER);
    this.ofTenants = { user: shares(OF_TENANT.user), node: shares(OF_TENANT.node) };
  }

  /** Waits until the caller may use one more connection, and does so until the returned function is called. */
  async enter({ kind, id, tenantId }: ContextCaller): Promise<() => void> {
    const name = `${kind} ${id}`;
    const leaveOwn = await this.ofCallers.enter(name, name);
    if (tenantId === null) return leaveOwn;
    try {
      const leave = await this.ofTenants[kind].enter(tenantId, name);
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
