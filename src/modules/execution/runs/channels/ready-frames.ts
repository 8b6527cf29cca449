import { Injectable } from '@nestjs/common';
import { decodeAnswer } from '../../../../../libs/contracts/call-message';
import type { NumberedPayload } from '../../../../../libs/contracts/channel-records';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { RunsRepository } from '../jobs/runs.repository';
import { type FramedRun, FrameConsumer } from './frame-consumer';

/** Takes in that a run can be called: with that it is RUNNING. */
@Injectable()
export abstract class ReadyFrames extends FrameConsumer {
  /** Why the run is RUNNING, for its history. */
  protected abstract readonly reason: string;

  constructor(private readonly runs: RunsRepository) {
    super();
  }

  read(_tenantId: string, frames: readonly NumberedPayload[]): Promise<NumberedPayload[]> {
    return Promise.resolve([...frames]);
  }

  async consume(tx: Tx, { run_id: runId }: FramedRun, frames: readonly NumberedPayload[]): Promise<void> {
    if (!frames.some(({ payload }) => decodeAnswer(payload)?.header.op === 'ready')) return;
    const run = await this.runs.lock(tx, runId);
    if (run?.status !== 'SUBMITTED') return;
    await this.runs.transition(tx, [run], { to: 'RUNNING', reason: this.reason, userId: null });
  }
}
