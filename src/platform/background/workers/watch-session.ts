import { Client } from 'pg';
import { sessionStart } from './workers.repository';

/**
 * PostgreSQL ends the session of a host that vanished after three seconds; by default it would wait for two hours. On
 * a Unix socket these have no meaning and no effect.
 */
const KEEPALIVE =
  '-c tcp_keepalives_idle=1 -c tcp_keepalives_interval=1 -c tcp_keepalives_count=2 -c tcp_user_timeout=3000';

/** One connection to PostgreSQL outside the pool: what it holds, and how long it has existed, has a meaning. */
export class WatchSession {
  private constructor(
    private readonly client: Client,
    /** When it began, by the database's clock. */
    readonly since: Date,
  ) {}

  /** @param patienceMs limit of the connecting and of each statement */
  static async open(url: string, patienceMs: number): Promise<WatchSession> {
    const client = new Client({
      connectionString: url,
      application_name: 'worker-watch',
      keepAlive: true,
      connectionTimeoutMillis: patienceMs,
      query_timeout: patienceMs,
      options: KEEPALIVE,
    });
    // Whoever asks next learns of it.
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

  /** Ends it at once if something is under way. */
  close(): Promise<void> {
    return this.client.end().catch(() => undefined);
  }
}
