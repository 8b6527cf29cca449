import type { ContextCaller } from '../context/request-context';
import { FairBulkhead } from '../process/fair-bulkhead';

/**
 * Parts of the pool that one caller, all users of a tenant, and all nodes of a tenant may use at once. Users and nodes of one
 * tenant together leave a quarter to others, even in a process that serves both.
 */
const CALLER_SHARE = 1 / 4;
const TENANT_SHARES = { user: 1 / 2, node: 1 / 4 };

const QUEUE_LIMITS = {
  code: 'DATABASE.BUSY',
  maxQueued: 1_000,
  maxQueuedPerParty: 1_000,
  // The pool has the same timeout.
  queueTimeoutMs: 10_000,
};

/**
 * Divides the connections of a pool among callers. A caller's statements may take long, or wait for locks that the same
 * caller holds. They then delay only further requests of this caller, and other callers still get connections.
 */
export class ConnectionShares {
  private readonly byCaller: Shares;
  private readonly byTenant: Record<ContextCaller['kind'], Shares>;

  constructor(poolSize: number) {
    const shares = (part: number) => new Shares(Math.max(1, Math.floor(poolSize * part)));
    this.byCaller = shares(CALLER_SHARE);
    this.byTenant = { user: shares(TENANT_SHARES.user), node: shares(TENANT_SHARES.node) };
  }

  /** Waits until the caller may use one more connection. The returned function gives it back. */
  async acquire({ kind, id, tenantId }: ContextCaller): Promise<() => void> {
    const name = `${kind} ${id}`;
    const leaveOwn = await this.byCaller.acquire(name, name);
    if (tenantId === null) return leaveOwn;
    try {
      const leave = await this.byTenant[kind].acquire(tenantId, name);
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

/** Keeps a bulkhead for each holder, a caller or a tenant, while it is in use. */
class Shares {
  private readonly byHolder = new Map<string, FairBulkhead>();

  constructor(private readonly maxConcurrent: number) {}

  /** @param party caller that takes turns with other callers in the holder's share */
  async acquire(holder: string, party: string): Promise<() => void> {
    const share = this.byHolder.get(holder) ?? new FairBulkhead({ ...QUEUE_LIMITS, maxConcurrent: this.maxConcurrent });
    this.byHolder.set(holder, share);
    const leave = await share.acquire(party);
    return () => {
      leave();
      if (share.isIdle && this.byHolder.get(holder) === share) this.byHolder.delete(holder);
    };
  }
}
