import { Injectable } from '@nestjs/common';
import { Transactions } from '../../../../../platform/kernel/persistence/transactions';
import { Reconciler } from '../../../../../platform/background/workflows/reconciler';
import { KernelsRepository } from '../kernels.repository';

/** How long clients may still ask what became of their requests; minutes. */
const KEPT_MINUTES = 60;
const KERNELS_AT_ONCE = 20;

/** Removes the requests to kernels, and the positions of their clients, of instances that ended an hour ago. */
@Injectable()
export class EndedKernelsSweeper extends Reconciler {
  readonly name = 'ended-kernels';
  readonly everyMs = 60_000;
  readonly deadlineMs = 60_000;

  constructor(
    private readonly transactions: Transactions,
    private readonly kernels: KernelsRepository,
  ) {
    super();
  }

  async reconcile(signal: AbortSignal): Promise<void | 'more'> {
    const cleared = await this.transactions.run((tx) => this.kernels.clearEnded(tx, KEPT_MINUTES, KERNELS_AT_ONCE));
    if (cleared === KERNELS_AT_ONCE && !signal.aborted) return 'more';
  }
}
