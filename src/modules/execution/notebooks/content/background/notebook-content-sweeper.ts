import { Injectable } from '@nestjs/common';
import { Transactions } from '../../../../../platform/kernel/persistence/transactions';
import { Reconciler } from '../../../../../platform/background/workflows/reconciler';
import { NotebookContentsRepository } from '../notebook-contents.repository';

/** A transaction that is to refer to a content has committed long before. */
const UNUSED_MINUTES = 60;
const CONTENTS_AT_ONCE = 500;

/** Removes large contents that no revision and no output refers to; the sweeper of files takes their bytes. */
@Injectable()
export class NotebookContentSweeper extends Reconciler {
  readonly name = 'notebook-contents';
  readonly intervalMs = 60 * 60_000;
  readonly deadlineMs = 10 * 60_000;

  constructor(
    private readonly transactions: Transactions,
    private readonly contents: NotebookContentsRepository,
  ) {
    super();
  }

  async reconcile(signal: AbortSignal): Promise<void> {
    let after: Date | null = null;
    do after = await this.pass(after);
    while (after !== null && !signal.aborted);
  }

  /** Where to go on; null at the end. */
  private async pass(after: Date | null): Promise<Date | null> {
    const asked = { minutes: UNUSED_MINUTES, limit: CONTENTS_AT_ONCE, after };
    const { seen, last } = await this.transactions.run((tx) => this.contents.removeUnused(tx, asked));
    return seen < CONTENTS_AT_ONCE ? null : last;
  }
}
