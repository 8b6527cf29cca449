import { Client, type Connection } from 'pg';
import { sessionStart } from './workers.repository';

/**
 * With these options, PostgreSQL ends the session of a vanished host after three seconds instead of two hours. On a Unix
 * socket they have no effect.
 */
const KEEPALIVE =
  '-c tcp_keepalives_idle=1 -c tcp_keepalives_interval=1 -c tcp_keepalives_count=2 -c tcp_user_timeout=3000';

/** A connection to PostgreSQL outside the pool, because its advisory lock and its age have a meaning. */
export class WatchSession {
  private constructor(
    private readonly client: Client,
    /** Start of the session by the database's clock. */
    readonly since: Date,
  ) {}

  /** @param timeoutMs timeout of connecting and of each statement */
  static async open(url: string, timeoutMs: number): Promise<WatchSession> {
    const client = new Client({
      connectionString: url,
      application_name: 'worker-watch',
      keepAlive: true,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      options: KEEPALIVE,
    });
    // The next query fails, so the error needs no other handling.
    client.on('error', () => undefined);
    try {
      await client.connect();
      return new WatchSession(client, await sessionStart(client));
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
  }

  async query<T>(sql: string, params: readonly unknown[] = []): Promise<{ rows: T[] }> {
    const { rows } = await this.client.query(sql, [...params]);
    return { rows: rows as T[] };
  }

  /**
   * Resolves if the session still exists, and rejects if it does not or if PostgreSQL does not answer in time. PostgreSQL answers
   * without a transaction.
   */
  confirm(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.client.query(new Sync((error) => (error ? reject(error) : resolve())));
    });
  }

  /** Ends the session, even during a query. */
  close(): Promise<void> {
    return this.client.end().catch(() => undefined);
  }
}

/** Message of PostgreSQL's protocol that is answered with ReadyForQuery. The driver takes it for a query and calls its members. */
class Sync {
  /** @param callback is replaced by the driver, which adds a timeout */
  constructor(public callback: (error: Error | null) => void) {}

  submit(connection: Connection): void {
    connection.sync();
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }

  handleError(error: Error): void {
    this.callback(error);
  }
}
