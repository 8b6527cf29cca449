import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as macrotask, setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import type { DataSource, QueryRunner } from 'typeorm';
import { messageOf } from '../../../src/platform/kernel/errors/message-of';
import { seededRandom, type SeededRandom } from '../../harness/seeded-random.cjs';

/** A statement that takes longer than this may be waiting for a lock; milliseconds. */
const SLOW_MS = 3;
/** Maximum duration of a step in milliseconds: after that, something waits forever. */
const STUCK_MS = 100_000;

/** Thrown to code that continues after the crash of its process. */
export class Crashed extends Error {}

/** An action that runs concurrently with others, one database statement at a time. */
export interface Deed {
  name: string;
  act: () => Promise<unknown>;
  /** The process dies instead of sending its statement of this number, from 1; its transaction is rolled back. */
  crashAt?: number;
}

/** The end of a deed; `error` is null if it succeeded. */
export interface Outcome {
  name: string;
  error: unknown;
}

interface Actor extends Deed {
  turns: number;
  isOver: boolean;
  hasCrashed: boolean;
  crash: () => void;
  rollbacks: Promise<unknown>[];
}

/** A statement that waits for its turn or is running. */
interface Statement {
  actor: Actor;
  sql: string;
  pid: number;
  go: () => void;
  isUnderWay: boolean;
  isBlocked: boolean;
}

/**
 * Runs deeds one statement at a time, in an order that follows from a seed. A deed that waits for a lock stays waiting
 * while others continue, so that every interleaving that PostgreSQL admits is possible.
 */
export class Interleaving {
  private readonly current = new AsyncLocalStorage<Actor>();
  private statements: Statement[] = [];
  private actors: Actor[] = [];
  private random: SeededRandom = seededRandom(0);
  /** The statements in their order, for the message of a failed seed. */
  trace: string[] = [];

  private constructor(private readonly observer: Client) {}

  /** Watches the statements of the data source from now on. */
  static async of(dataSource: DataSource, databaseUrl: string): Promise<Interleaving> {
    const observer = new Client({ connectionString: databaseUrl });
    await observer.connect();
    const { database } = observer;
    await observer.query(`ALTER DATABASE ${database} SET deadlock_timeout = '20ms'`);
    const interleaving = new Interleaving(observer);
    const create = dataSource.createQueryRunner.bind(dataSource);
    dataSource.createQueryRunner = (mode) => interleaving.watch(create(mode));
    return interleaving;
  }

  async close(): Promise<void> {
    await this.observer.end();
  }

  /** Runs until every deed has ended and returns how each ended. */
  async run(seed: number, deeds: readonly Deed[]): Promise<Outcome[]> {
    this.random = seededRandom(seed);
    this.statements = [];
    this.trace = [];
    this.actors = deeds.map((deed) => ({
      ...deed,
      turns: 0,
      isOver: false,
      hasCrashed: false,
      crash: () => undefined,
      rollbacks: [],
    }));
    const ends = this.actors.map((actor) => this.current.run(actor, () => this.begin(actor)));
    // Work that a deed leaves behind after its end runs, too.
    while (this.actors.some(({ isOver }) => !isOver) || this.statements.length > 0) {
      await this.untilIdle();
      const waiting = this.statements.filter(({ isUnderWay }) => !isUnderWay);
      if (waiting.length > 0) this.release(this.random.pick(waiting));
    }
    return Promise.all(ends);
  }

  private async begin(actor: Actor): Promise<Outcome> {
    const end = (error: unknown): Outcome => {
      actor.isOver = true;
      this.trace.push(`${actor.name}: ${error === null ? 'done' : messageOf(error)}`);
      return { name: actor.name, error };
    };
    const crashed = new Promise<void>((resolve) => (actor.crash = resolve)).then(async () => {
      await macrotask();
      await macrotask();
      await Promise.all(actor.rollbacks);
      throw new Crashed('crashed');
    });
    try {
      await Promise.race([actor.act(), crashed]);
      return end(null);
    } catch (error) {
      return end(error);
    }
  }

  private watch(runner: QueryRunner): QueryRunner {
    const query = runner.query.bind(runner) as (...args: unknown[]) => Promise<unknown>;
    const watched = async (...args: unknown[]): Promise<unknown> => {
      const actor = this.current.getStore();
      const sql = String(args[0]);
      if (actor?.hasCrashed) return this.afterCrash(actor, runner, () => query(...args), sql);
      // A transaction that has only begun has seen nothing.
      if (!actor || actor.isOver || sql === 'START TRANSACTION') return query(...args);
      const { processID } = (await runner.connect()) as { processID: number };
      const statement = await this.turn(actor, sql, processID);
      if (!statement) {
        if (sql === 'ROLLBACK') return this.afterCrash(actor, runner, () => query(...args), sql);
        throw new Crashed();
      }
      try {
        return await query(...args);
      } finally {
        this.statements = this.statements.filter((other) => other !== statement);
      }
    };
    return Object.assign(runner, { query: watched });
  }

  /** Rolls back an open transaction, as the server does when a process dies; all other statements never return. */
  private afterCrash(actor: Actor, runner: QueryRunner, send: () => Promise<unknown>, sql: string): Promise<unknown> {
    if (sql !== 'ROLLBACK')
      return runner.isTransactionActive ? Promise.reject(new Crashed()) : new Promise(() => undefined);
    const rollback = send();
    actor.rollbacks.push(rollback.catch(() => undefined));
    return rollback;
  }

  /** Returns the statement once it may be sent; null if its process has died. */
  private async turn(actor: Actor, sql: string, pid: number): Promise<Statement | null> {
    const statement: Statement = { actor, sql, pid, go: () => undefined, isUnderWay: false, isBlocked: false };
    const released = new Promise<void>((resolve) => (statement.go = resolve));
    this.statements.push(statement);
    await released;
    actor.turns += 1;
    if (actor.turns === actor.crashAt) {
      actor.hasCrashed = true;
      actor.crash();
      this.trace.push(`${actor.name}: crashes`);
    }
    if (actor.hasCrashed) {
      this.statements = this.statements.filter((other) => other !== statement);
      return null;
    }
    return statement;
  }

  private release(statement: Statement): void {
    this.trace.push(`${statement.actor.name}: ${statement.sql.replaceAll(/\s+/g, ' ').slice(0, 160)}`);
    statement.isUnderWay = true;
    statement.go();
  }

  /** Returns when each deed has ended, waits for its turn, or waits for a lock. */
  private async untilIdle(): Promise<void> {
    const deadline = performance.now() + STUCK_MS;
    for (let tries = 0; ; tries += 1) {
      // The result of a statement is processed before the next statement.
      await macrotask();
      await macrotask();
      const underWay = this.statements.filter(({ isUnderWay }) => isUnderWay);
      const idle = this.actors.filter(
        (actor) => !actor.isOver && !this.statements.some((statement) => statement.actor === actor),
      );
      if (underWay.length === 0 && idle.length === 0) return;
      const running = underWay.filter(({ isBlocked }) => !isBlocked);
      if (tries > 0 && (running.length > 0 || idle.length > 0)) await delay(Math.min(tries, SLOW_MS));
      if (tries >= SLOW_MS || running.length < underWay.length) await this.findBlocked(underWay);
      if (idle.length === 0 && underWay.every(({ isBlocked }) => isBlocked) && this.hasWaiting()) return;
      if (performance.now() > deadline) throw new Error(`Nothing goes on any more:\n${this.trace.join('\n')}`);
    }
  }

  private hasWaiting(): boolean {
    return this.statements.some(({ isUnderWay }) => !isUnderWay);
  }

  private async findBlocked(underWay: readonly Statement[]): Promise<void> {
    if (underWay.length === 0) return;
    const { rows } = await this.observer.query<{ pid: number }>(
      'SELECT pid FROM unnest($1::int[]) pid WHERE cardinality(pg_blocking_pids(pid)) > 0',
      [underWay.map(({ pid }) => pid)],
    );
    const blocked = new Set(rows.map(({ pid }) => pid));
    for (const statement of underWay) statement.isBlocked = blocked.has(statement.pid);
  }
}
