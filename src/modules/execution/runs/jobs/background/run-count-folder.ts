import { Injectable } from '@nestjs/common';
import { Reconciler } from '../../../../../platform/background/workflows/reconciler';
import type { Ask } from '../../../../../platform/background/workflows/work-questions';
import { RunsRepository } from '../runs.repository';

const BATCH = 5_000;

/** Folds the changes of run counts into their totals, so that reading a count stays cheap. */
@Injectable()
export class RunCountFolder extends Reconciler {
  readonly name = 'run-counts';
  readonly intervalMs = 5_000;
  readonly deadlineMs = 60_000;

  constructor(private readonly runs: RunsRepository) {
    super();
  }

  override hasWork(ask: Ask): Promise<boolean> {
    return ask(this.runs.hasUnfoldedCounts);
  }

  async reconcile(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await this.runs.foldCounts(BATCH)) === BATCH);
  }
}
