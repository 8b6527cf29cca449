import { Injectable } from '@nestjs/common';
import { LogStore } from '../../../../libs/object-storage/log-store';
import type { Reconciler } from '../../../platform/workflows/reconcile-loop';
import { Repairs } from '../../../platform/workflows/repairs';
import { LogOwners } from '../log-owners.repository';

const BATCH = 100;

/** Other reconcilers wait for this one; the next pass goes on. */
const PASS_MS = 2_000;

/** Has the store put the logs of what has ended into as few pieces as it takes. */
@Injectable()
export class LogSettler implements Reconciler {
  readonly name = 'log-pieces';

  constructor(
    private readonly owners: LogOwners,
    private readonly store: LogStore,
  ) {}

  async reconcile(signal: AbortSignal): Promise<void> {
    if (!this.store.settles) return;
    const until = Date.now() + PASS_MS;
    const repairs = new Repairs(signal);
    for (const kind of this.owners.kinds) {
      for (const id of await this.owners.unsettled(kind, BATCH)) {
        if (Date.now() > until) break;
        await repairs.attempt(`The log of ${kind} ${id}`, async () => {
          await this.store.settle(kind, id, signal);
          await this.owners.noteSettled(kind, id);
        });
      }
    }
    repairs.finish();
  }
}
