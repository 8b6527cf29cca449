import { Injectable } from '@nestjs/common';
import { LogStore } from '../../../../../../libs/object-storage/log-store';
import { Config } from '../../../../../config/config';
import { Reconciler } from '../../../../../platform/background/workflows/reconciler';
import { LogOwners } from '../log-owners.repository';
import { loggedRows } from '../logged-rows';

const BATCH = 200;

/** Removes logs older than the configured retention. */
@Injectable()
export class LogSweeper extends Reconciler {
  readonly name = 'logs';
  readonly intervalMs = this.config.worker.reconcileMs;
  readonly deadlineMs = 120_000;

  constructor(
    private readonly owners: LogOwners,
    private readonly store: LogStore,
    private readonly config: Config,
  ) {
    super();
  }

  async reconcile(signal: AbortSignal): Promise<void> {
    for (const logged of loggedRows()) {
      const old = await this.owners.agedBy(logged, this.config.storage.logRetentionDays, BATCH);
      const removed: number[] = [];
      try {
        for (const id of old) {
          signal.throwIfAborted();
          await this.store.delete(logged.kind, id);
          removed.push(id);
        }
      } finally {
        if (removed.length > 0) await this.owners.noteRemoved(logged, removed);
      }
    }
  }
}
