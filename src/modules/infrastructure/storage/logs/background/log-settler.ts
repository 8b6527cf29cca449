import { Injectable } from '@nestjs/common';
import { LogStore } from '../../../../../../libs/object-storage/log-store';
import { Config } from '../../../../../config/config';
import { Reconciler } from '../../../../../platform/background/workflows/reconciler';
import { FailureCollector } from '../../../../../platform/background/workflows/failure-collector';
import { LogOwners } from '../log-owners.repository';
import { loggedRows } from '../logged-rows';

const BATCH = 100;

/** Has the store merge the logs of ended runs and nodes into as few pieces as possible. */
@Injectable()
export class LogSettler extends Reconciler {
  readonly name = 'log-pieces';
  readonly intervalMs = this.config.worker.reconcileMs;
  readonly deadlineMs = 60_000;

  constructor(
    private readonly owners: LogOwners,
    private readonly store: LogStore,
    private readonly config: Config,
  ) {
    super();
  }

  async reconcile(signal: AbortSignal): Promise<void> {
    if (!this.store.settles) return;
    const failures = new FailureCollector(signal);
    for (const logged of loggedRows()) {
      for (const id of await this.owners.unsettled(logged, BATCH)) {
        await failures.attempt(`The log of ${logged.kind} ${id}`, async () => {
          await this.store.settle(logged.kind, id, signal);
          await this.owners.noteSettled(logged, id);
        });
      }
    }
    failures.throwFailures();
  }
}
