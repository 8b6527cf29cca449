import { Client } from 'pg';
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

  /** Ends the session, even during a query. */
  close(): Promise<void> {
    return this.client.end().catch(() => undefined);
  }
}
