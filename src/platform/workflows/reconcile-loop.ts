import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../config/config';
import { messageOf } from '../errors/message-of';
import { LOGGER, type Logger } from '../logging/logger';
import { requeueDueWorkflows } from './workflow-intents';

/** A periodic repair. A pass may be cut short at any time and is repeated. */
export interface Reconciler {
  readonly name: string;
  reconcile(signal: AbortSignal): Promise<void>;
}

/** Provided by the worker's root module: every reconciler of the domains. */
export const RECONCILERS = Symbol('RECONCILERS');

const PASS_DEADLINE_MS = 120_000;
const OUTBOX_KEPT = '7 days';
const IDEMPOTENCY_KEPT = '7 days';

/** Runs the reconcilers at an interval. Several worker pods may run it: one pass at a time holds each lock. */
@Injectable()
export class ReconcileLoop {
  private stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | null = null;
  /** What was wrong in the last pass, by reconciler. */
  private readonly problems = new Map<string, string>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(RECONCILERS) private readonly reconcilers: Reconciler[],
  ) {}

  start(): void {
    const next = () => {
      this.timer = setTimeout(() => {
        this.running = this.pass().finally(() => {
          if (!this.stopping.signal.aborted) next();
        });
      }, this.config.worker.reconcileMs);
    };
    next();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    if (this.timer) clearTimeout(this.timer);
    await this.running;
  }

  private async pass(): Promise<void> {
    await this.guarded('workflows', () => this.reconcileWorkflows());
    for (const reconciler of this.reconcilers) {
      const signal = AbortSignal.any([this.stopping.signal, AbortSignal.timeout(PASS_DEADLINE_MS)]);
      await this.guarded(reconciler.name, () => reconciler.reconcile(signal));
    }
  }

  /** One failing reconciler must not keep the others from their work. */
  private async guarded(name: string, work: () => Promise<void>): Promise<void> {
    if (this.stopping.signal.aborted) return;
    try {
      if (!(await this.withLock(name, work))) return;
      if (this.problems.delete(name)) this.logger.info({ reconciler: name }, 'A reconciler does its work again');
    } catch (error) {
      const problem = messageOf(error);
      // A pass is every few seconds: what goes on being wrong is told once.
      if (this.problems.get(name) !== problem)
        this.logger.error({ err: error, reconciler: name }, 'A reconciler failed; the next passes try again');
      this.problems.set(name, problem);
    }
  }

  /** False when another worker has the lock. */
  private async withLock(name: string, work: () => Promise<void>): Promise<boolean> {
    const runner = this.dataSource.createQueryRunner();
    try {
      const [row] = (await runner.query('SELECT pg_try_advisory_lock(hashtext($1)) AS held', [
        `reconcile:${name}`,
      ])) as {
        held: boolean;
      }[];
      if (!row?.held) return false;
      try {
        await work();
        return true;
      } finally {
        await runner.query('SELECT pg_advisory_unlock(hashtext($1))', [`reconcile:${name}`]);
      }
    } finally {
      await runner.release();
    }
  }

  private async reconcileWorkflows(): Promise<void> {
    const again = await this.dataSource.transaction((tx) => requeueDueWorkflows(tx, this.config.worker.leaseMs));
    if (again > 0) this.logger.warn({ count: again }, 'Sent overdue workflows again');
    const { manager } = this.dataSource;
    await manager.query(`DELETE FROM outbox_messages WHERE sent_at < platform_now() - interval '${OUTBOX_KEPT}'`);
    await manager.query(
      `DELETE FROM idempotency_keys WHERE created_at < platform_now() - interval '${IDEMPOTENCY_KEPT}'`,
    );
  }
}
