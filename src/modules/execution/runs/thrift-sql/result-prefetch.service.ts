import { Inject, Injectable } from '@nestjs/common';
import { decodeAnswer, encodeCall } from '../../../../../libs/contracts/call-message';
import type { NumberedPayload } from '../../../../../libs/contracts/channel-records';
import { currentContext, runAsCaller } from '../../../../platform/kernel/context/request-context';
import { conflict } from '../../../../platform/kernel/errors/domain-error';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { bodyOfParts } from '../channels/answer-body';
import type { CallAnswer, CalledRun } from '../channels/run-calls.service';
import { RunChannelsService } from '../channels/run-channels.service';
import { type Fetch, putSequence } from './hive-message';
import { ResultPrefetchRepository } from './result-prefetch.repository';

/** Of the frames of an answer and those that were sent with them; an honest job's have less. */
const MAX_BYTES = 48 * 1024 * 1024;

/** Answers that a run gives before they are asked for; each to one request, whichever pod it reaches. See ADR 0038. */
@Injectable()
export class ResultPrefetchService {
  constructor(
    private readonly repository: ResultPrefetchRepository,
    private readonly channels: RunChannelsService,
    private readonly transactions: Transactions,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * The answer to a fetch, where it has come ahead; from then on it is the caller's. Null where it has not, or its frames are no
   * longer kept: the run still has it, and answers with it when it is called. 500 for what the run has packed wrongly.
   */
  async claim(run: CalledRun, { key, sequence }: Fetch): Promise<Buffer | null> {
    // A repetition would get the rows behind.
    if (currentContext()?.idempotency) return null;
    const found = await this.repository.oldest(run.run_id, key);
    if (!found) return null;
    const frames = await this.channels.framesBetween(run.run_id, found, MAX_BYTES);
    const body = frames && (await bodyOf(frames, found.call_id));
    if (body === null) return null;
    const claimed = await this.repository.claim(run.run_id, found);
    if (!claimed) return null;
    // Each time would cost as much as a call; in time for the run to go on ahead, it need not be more often.
    if (claimed.unsettled >= claimed.left) this.settleLater(run);
    putSequence(body, sequence);
    return body;
  }

  /** Tells the run what was claimed, which it must know before it gets a call that asks for what comes behind. */
  async settle(tx: Tx, run: CalledRun): Promise<void> {
    const ids = await this.repository.settle(tx, run.run_id);
    if (ids.length > 0) await this.channels.send(tx, run, encodeCall({ op: 'claimed', ids }));
  }

  /** 409 when the rows of an answer were claimed while it was on its way, which takes two requests at a time. */
  async assertOwn(run: CalledRun, { id, insteadOf }: CallAnswer): Promise<void> {
    if (insteadOf === undefined || !(await this.repository.isRefused(run.run_id, id))) return;
    throw conflict(
      'THRIFT.ROWS_TAKEN',
      'Another request has already fetched these rows. Do not fetch one result with several requests at once.',
    );
  }

  private settleLater(run: CalledRun): void {
    runAsCaller(() => this.transactions.run((tx) => this.settle(tx, run))).catch((error: unknown) =>
      // The next call tells it.
      this.logger.debug({ err: error, run_id: run.run_id }, 'A job was not told of claimed answers'),
    );
  }
}

/** What the frames have, which are all those of one answer; null if they are anything else. */
async function bodyOf(frames: readonly NumberedPayload[], id: string): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  let isDeflated = false;
  for (const [at, { payload }] of frames.entries()) {
    const answer = decodeAnswer(payload);
    if (answer?.header.op !== 'answer' || answer.header.id !== id) return null;
    if (answer.header.outcome !== 'ok' || answer.header.more !== at < frames.length - 1) return null;
    isDeflated = answer.header.deflated ?? false;
    parts.push(answer.body);
  }
  return bodyOfParts(parts, isDeflated);
}
