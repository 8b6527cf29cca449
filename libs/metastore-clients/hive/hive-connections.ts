import type { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { MetastoreError } from '../metastore-client';
import { Semaphore } from '../semaphore';
import { HiveConnection, type HiveUri, serverOf } from './hive-connection';
import type { HiveAuthentication } from './hive-authentication';
import type { ThriftMethod } from './thrift-structs';

/** Maximum number of connections of one client, to all its metastores together. */
export const MAX_CONNECTIONS = 2;

/** A pool of a few connections to metastores that serve the same data. */
export class HiveConnections {
  private readonly idle: HiveConnection[] = [];
  private readonly used = new Set<HiveConnection>();
  private readonly permits = new Semaphore(MAX_CONNECTIONS);
  private isClosed = false;

  /**
   * @param uris tried in this order
   * @param connectMs timeout to connect to one of them and log in, milliseconds
   */
  constructor(
    private readonly uris: readonly HiveUri[],
    private readonly outbound: OutboundPolicy,
    private readonly authentication: HiveAuthentication,
    private readonly connectMs: number,
  ) {}

  /**
   * Makes one call, which must be read-only: if a connection breaks, the call is repeated on a new one and with the next
   * metastore. Rejects with a {@link MetastoreError} that lists the errors of all metastores, or with the exception that
   * one returned.
   */
  async call<A, R>(method: ThriftMethod<A, R>, values: A, signal: AbortSignal): Promise<R> {
    await this.permits.acquire(signal);
    try {
      const failures: string[] = [];
      for (const open of this.sources(signal)) {
        try {
          return await this.callOn(await open(), method, values, signal);
        } catch (error) {
          if (!(error instanceof MetastoreError) || error.fault !== 'unreachable' || signal.aborted) throw error;
          if (!failures.includes(error.message)) failures.push(error.message);
        }
      }
      throw new MetastoreError('unreachable', failures.join(' '));
    } finally {
      this.permits.release();
    }
  }

  /** Closes all connections; running calls are rejected. */
  close(): void {
    this.isClosed = true;
    for (const connection of [...this.idle.splice(0), ...this.used]) connection.close(closed());
    this.authentication.close();
  }

  /** Yields idle connections first, which their servers may have closed meanwhile, then new ones. */
  private *sources(signal: AbortSignal): Generator<() => Promise<HiveConnection>> {
    for (let idle = this.idle.pop(); idle; idle = this.idle.pop()) {
      const connection = idle;
      if (connection.isOpen) yield () => Promise.resolve(connection);
    }
    for (const uri of this.uris) yield () => this.open(uri, signal);
  }

  private async open(uri: HiveUri, signal: AbortSignal): Promise<HiveConnection> {
    const controller = new AbortController();
    const onAbort = () => controller.abort(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    const timer = setTimeout(() => {
      const message = `${serverOf(uri)} cannot be reached within ${this.connectMs / 1000} seconds.`;
      controller.abort(new MetastoreError('unreachable', message));
    }, this.connectMs);
    try {
      return await HiveConnection.open(uri, this.outbound, this.authentication, controller.signal);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  private async callOn<A, R>(
    connection: HiveConnection,
    method: ThriftMethod<A, R>,
    values: A,
    signal: AbortSignal,
  ): Promise<R> {
    this.used.add(connection);
    try {
      if (this.isClosed) throw closed();
      return await connection.call(method, values, signal);
    } finally {
      this.used.delete(connection);
      if (this.isClosed) connection.close(closed());
      if (connection.isOpen) this.idle.push(connection);
    }
  }
}

function closed(): MetastoreError {
  return new MetastoreError('unreachable', 'The connection to the metastore was closed.');
}
