import { Injectable } from '@nestjs/common';
import { Transactions } from '../../../../../platform/kernel/persistence/transactions';
import { Reconciler } from '../../../../../platform/background/workflows/reconciler';
import { NotebookContentsRepository } from '../notebook-contents.repository';

/** Long enough for a transaction that will refer to a content to commit. */
const UNUSED_MINUTES = 60;
const BATCH = 500;

/** Removes the rows of contents that no revision or output references; the sweeper of files then deletes their blobs. */
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

  /** Returns where the next pass continues; null at the end. */
  private async pass(after: Date | null): Promise<Date | null> {
    const batch = { minutes: UNUSED_MINUTES, limit: BATCH, after };
    const { seen, last } = await this.transactions.run((tx) => this.contents.removeUnused(tx, batch));
    return seen < BATCH ? null : last;
  }
}
