import { Injectable } from '@nestjs/common';
import { LogStore } from '../../../../../../libs/object-storage/log-store';
import { Config } from '../../../../../config/config';
import { Reconciler } from '../../../../../platform/background/workflows/reconciler';
import type { Ask } from '../../../../../platform/background/workflows/work-questions';
import { LogOwnersRepository } from '../log-owners.repository';
import { logOwnerTables } from '../log-owner-tables';

const BATCH_SIZE = 200;

@Injectable()
export class LogSweeper extends Reconciler {
  readonly name = 'logs';
  readonly intervalMs = this.config.worker.reconcileMs;
  readonly deadlineMs = 120_000;

  constructor(
    private readonly owners: LogOwnersRepository,
    private readonly store: LogStore,
    private readonly config: Config,
  ) {
    super();
  }

  override hasWork(ask: Ask): Promise<boolean> {
    const { logRetentionDays: days } = this.config.storage;
    return ask((params) =>
      logOwnerTables()
        .map((owner) => this.owners.hasExpired(params, owner, days))
        .join(' OR '),
    );
  }

  async reconcile(signal: AbortSignal): Promise<void> {
    for (const owner of logOwnerTables()) {
      const expired = await this.owners.findExpired(owner, this.config.storage.logRetentionDays, BATCH_SIZE);
      const deleted: number[] = [];
      try {
        for (const id of expired) {
          signal.throwIfAborted();
          await this.store.delete(owner.kind, id);
          deleted.push(id);
        }
      } finally {
        if (deleted.length > 0) await this.owners.markDeleted(owner, deleted);
      }
    }
  }
}
