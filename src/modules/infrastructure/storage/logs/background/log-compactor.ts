import { Injectable } from '@nestjs/common';
import { LogStore } from '../../../../../../libs/object-storage/log-store';
import { Config } from '../../../../../config/config';
import { Reconciler } from '../../../../../platform/background/workflows/reconciler';
import type { Ask } from '../../../../../platform/background/workflows/work-questions';
import { FailureCollector } from '../../../../../platform/background/workflows/failure-collector';
import { LogOwnersRepository } from '../log-owners.repository';
import { logOwnerTables } from '../log-owner-tables';

const BATCH_SIZE = 100;

/** Merges the pieces of the logs of ended runs and nodes into as few objects as possible. */
@Injectable()
export class LogCompactor extends Reconciler {
  readonly name = 'log-pieces';
  readonly intervalMs = this.config.worker.reconcileMs;
  readonly deadlineMs = 60_000;

  constructor(
    private readonly owners: LogOwnersRepository,
    private readonly store: LogStore,
    private readonly config: Config,
  ) {
    super();
  }

  override hasWork(ask: Ask): Promise<boolean> {
    if (!this.store.needsCompaction) return Promise.resolve(false);
    return ask(() =>
      logOwnerTables()
        .map((owner) => this.owners.hasUncompacted(owner))
        .join(' OR '),
    );
  }

  async reconcile(signal: AbortSignal): Promise<void> {
    if (!this.store.needsCompaction) return;
    const failures = new FailureCollector(signal);
    for (const owner of logOwnerTables()) {
      for (const id of await this.owners.findUncompacted(owner, BATCH_SIZE)) {
        await failures.attempt(`The log of ${owner.kind} ${id}`, async () => {
          await this.store.compact(owner.kind, id, signal);
          await this.owners.markCompacted(owner, id);
        });
      }
    }
    failures.throwFailures();
  }
}
