import type { DataSource, QueryRunner } from 'typeorm';

/**
 * Holds named locks of this process, which PostgreSQL releases when the process dies. They share one connection, so that
 * they do not exhaust the pool. The same process can take a lock twice.
 */
export class AdvisoryLocks {
  private runner: QueryRunner | null = null;
  /** The connection takes one statement at a time. */
  private turn: Promise<unknown> = Promise.resolve();

  constructor(private readonly dataSource: DataSource) {}

  /** Returns false if another process has the lock. */
  async tryLock(name: string): Promise<boolean> {
    const [row] = (await this.query('SELECT pg_try_advisory_lock(hashtext($1)) AS held', [name])) as {
      held: boolean;
    }[];
    return row?.held ?? false;
  }

  async unlock(name: string): Promise<void> {
    await this.query('SELECT pg_advisory_unlock(hashtext($1))', [name]);
  }

  /** Releases all locks. */
  async close(): Promise<void> {
    if (this.runner) await this.query('SELECT pg_advisory_unlock_all()', []).catch(() => undefined);
    await this.drop();
  }

  private query(sql: string, params: unknown[]): Promise<unknown> {
    const result = this.turn.then(async () => {
      try {
        this.runner ??= this.dataSource.createQueryRunner();
        return (await this.runner.query(sql, params)) as unknown;
      } catch (error) {
        // The locks are lost with the connection.
        await this.drop();
        throw error;
      }
    });
    this.turn = result.catch(() => undefined);
    return result;
  }

  private async drop(): Promise<void> {
    const { runner } = this;
    this.runner = null;
    await runner?.release().catch(() => undefined);
  }
}
