import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../../config/config';
import { LOGGER, type Logger } from '../../kernel/logging/logger';
import { Reconciler } from './reconciler';
import { requeueDueWorkflows } from './workflow-intents';

/** Resends workflows that are due and that nobody holds. */
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

  async reconcile(): Promise<void> {
    const again = await this.dataSource.transaction((tx) => requeueDueWorkflows(tx, this.config.worker.leaseMs));
    if (again > 0) this.logger.warn({ count: again }, 'Sent overdue workflows again');
  }
}
