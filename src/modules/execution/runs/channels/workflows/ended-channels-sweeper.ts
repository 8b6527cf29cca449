import { Injectable } from '@nestjs/common';
import { Transactions } from '../../../../../platform/kernel/persistence/transactions';
import { Reconciler } from '../../../../../platform/background/workflows/reconciler';
import { RunChannelsRepository } from '../run-channels.repository';

/** How long readers may still fetch what a run said last; minutes. */
const KEPT_MINUTES = 60;
const CHANNELS_AT_ONCE = 20;

/** Removes requests and frames of runs that ended an hour ago. */
@Injectable()
export class EndedChannelsSweeper extends Reconciler {
  readonly name = 'ended-channels';
  readonly everyMs = 60_000;
  readonly deadlineMs = 60_000;

  constructor(
    private readonly transactions: Transactions,
    private readonly repository: RunChannelsRepository,
  ) {
    super();
  }

  async reconcile(signal: AbortSignal): Promise<void | 'more'> {
    const isAll = await this.transactions.run((tx) => this.repository.removeEnded(tx, KEPT_MINUTES, CHANNELS_AT_ONCE));
    if (!isAll && !signal.aborted) return 'more';
  }
}
