import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../../config/config';
import { LOGGER, type Logger } from '../../kernel/logging/logger';
import { Reconciler } from './reconciler';
import { hasDueInstances, requeueDueWorkflows } from './workflow-intents';
import type { Ask } from './work-questions';
import { inTransaction } from '../../kernel/persistence/sql';

/** Enqueues overdue workflows that no worker holds. */
@Injectable()
export class WorkflowReconciler extends Reconciler {
  readonly name = 'workflows';
  readonly intervalMs = this.config.worker.reconcileMs;
  readonly deadlineMs = 30_000;

  constructor(
    private readonly dataSource: DataSource,
    private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
  }

  override hasWork(ask: Ask): Promise<boolean> {
    return ask(hasDueInstances);
  }

  async reconcile(): Promise<void> {
    const count = await inTransaction(this.dataSource, (tx) => requeueDueWorkflows(tx, this.config.worker.leaseMs));
    if (count > 0) this.logger.warn({ count }, 'Enqueued overdue workflows again');
  }
}
