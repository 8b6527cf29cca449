import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { currentContext, type RequestContext } from '../platform/kernel/context/request-context';
import { ConnectionShares } from '../platform/kernel/persistence/connection-shares';

type Connected = (error: Error | undefined, client: PoolClient | undefined, release: PoolClient['release']) => void;

/** A pool that limits each caller of the API to a share of its connections. The platform's own work has no limit. */
export class FairPool extends Pool {
  private readonly shares: ConnectionShares;
  /** Connections in use, by request. */
  private readonly used = new WeakMap<RequestContext, Set<PoolClient>>();

  constructor(config: PoolConfig & { max: number }) {
    super(config);
    this.shares = new ConnectionShares(config.max);
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<PoolClient> | void {
    const connected = this.connectFairly();
    if (!callback) return connected;
    connected.then(
      (client) => callback(undefined, client, (destroy) => client.release(destroy)),
      (error: Error) => callback(error, undefined, () => undefined),
    );
  }

  private async connectFairly(): Promise<PoolClient> {
    const context = currentContext();
    if (!context?.caller || this.isInTransaction(context)) return super.connect();
    const leave = await this.shares.acquire(context.caller);
    try {
      const client = await super.connect();
      this.lend(client, context, leave);
      return client;
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** True if the request holds a connection with a transaction: a second connection must not wait for the share that the first uses. */
  private isInTransaction(context: RequestContext): boolean {
    for (const client of this.used.get(context) ?? []) if (client.getTransactionStatus() !== 'I') return true;
    return false;
  }

  private lend(client: PoolClient, context: RequestContext, leave: () => void): void {
    const used = this.used.get(context) ?? new Set();
    this.used.set(context, used.add(client));
    const release = client.release.bind(client);
    client.release = (destroy) => {
      used.delete(client);
      release(destroy);
      leave();
    };
  }
}
