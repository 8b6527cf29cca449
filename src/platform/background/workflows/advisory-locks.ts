import type { DataSource, QueryRunner } from 'typeorm';

/** A lock is released this much later at most, together with others; milliseconds. */
const MAX_RELEASE_DELAY_MS = 100;

interface Attempt {
  name: string;
  resolve: (isHeld: boolean) => void;
  reject: (error: unknown) => void;
}

/**
 * Holds named locks of this process, which PostgreSQL releases when the process dies. They share one connection, so that
 * they do not exhaust the pool, and a statement: those that are requested at the same time are taken together. The same process
 * can take a lock twice.
 */
export class AdvisoryLocks {
  private runner: QueryRunner | null = null;
  private attempts: Attempt[] = [];
  private released: string[] = [];
  private timer: { due: number; handle: NodeJS.Timeout } | null = null;
  /** The connection takes one statement at a time. */
  private turn: Promise<void> = Promise.resolve();

  constructor(private readonly dataSource: DataSource) {}

  /** Resolves to false if another process has the lock. */
  tryLock(name: string): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.attempts.push({ name, resolve, reject });
      this.flushWithin(0);
    });
  }

  /** Releases the lock soon. */
  release(name: string): void {
    this.released.push(name);
    this.flushWithin(MAX_RELEASE_DELAY_MS);
  }

  /** Releases all locks. */
  async close(): Promise<void> {
    if (this.timer) clearTimeout(this.timer.handle);
    await this.turn;
    await this.flush();
    await this.runner?.query('SELECT pg_advisory_unlock_all()').catch(() => undefined);
    await this.drop();
  }

  private flushWithin(ms: number): void {
    const due = performance.now() + ms;
    if (this.timer && this.timer.due <= due) return;
    if (this.timer) clearTimeout(this.timer.handle);
    const handle = setTimeout(() => {
      this.timer = null;
      this.turn = this.turn.then(() => this.flush());
    }, ms);
    this.timer = { due, handle };
  }

  private async flush(): Promise<void> {
    const { attempts, released } = this;
    this.attempts = [];
    this.released = [];
    try {
      if (released.length > 0)
        await this.query('SELECT pg_advisory_unlock(hashtext(name)) FROM unnest($1::text[]) AS name', [released]);
      if (attempts.length === 0) return;
      const found = await this.query<{ held: boolean }>(
        `SELECT pg_try_advisory_lock(hashtext(name)) AS held FROM unnest($1::text[]) WITH ORDINALITY AS wanted (name, place)
         ORDER BY place`,
        [attempts.map(({ name }) => name)],
      );
      for (const [index, { resolve }] of attempts.entries()) resolve(found[index]?.held ?? false);
    } catch (error) {
      for (const { reject } of attempts) reject(error);
      // The locks are lost with the connection.
      await this.drop();
    }
  }

  private async query<T>(sql: string, params: unknown[]): Promise<T[]> {
    this.runner ??= this.dataSource.createQueryRunner();
    return (await this.runner.query(sql, params)) as T[];
  }

  private async drop(): Promise<void> {
    const { runner } = this;
    this.runner = null;
    await runner?.release().catch(() => undefined);
  }
}
