import { Inject, Injectable } from '@nestjs/common';
import { decodeAnswer, encodeCall } from '../../../../../libs/contracts/call-message';
import type { NumberedPayload } from '../../../../../libs/contracts/channel-records';
import { currentContext, runAsCaller } from '../../../../platform/kernel/context/request-context';
import { conflict } from '../../../../platform/kernel/errors/domain-error';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { joinParts } from '../channels/answer-body';
import type { CallAnswer, CalledRun } from '../channels/run-calls.service';
import { RunChannelsService } from '../channels/run-channels.service';
import { type RepeatedCall, writeSequence } from './hive-message';
import { ResultPrefetchRepository } from './result-prefetch.repository';

/** Bounds the frames that are read for one answer, with those in the same batches. A well-behaved job stays below it. */
const MAX_BYTES = 48 * 1024 * 1024;

/** Prefetched answers of SQL servers. Each is returned to one request, whichever pod serves it. See ADR 0038. */
@Injectable()
export class ResultPrefetchService {
  constructor(
    private readonly repository: ResultPrefetchRepository,
    private readonly channels: RunChannelsService,
    private readonly transactions: Transactions,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Claims the prefetched answer to a fetch. Returns null if there is none or its frames are no longer kept: the run still has the
   * answer and returns it when it is called. Throws a 500 if the answer cannot be decompressed.
   */
  async claim(run: CalledRun, fetch: RepeatedCall): Promise<Buffer | null> {
    // A repeated request would get the next rows.
    if (currentContext()?.idempotency) return null;
    const found = await this.repository.oldest(run.run_id, fetch.key);
    if (!found) return null;
    const frames = await this.channels.framesBetween(run.run_id, found, MAX_BYTES);
    const body = frames && (await bodyOf(frames, found.call_id));
    if (body === null) return null;
    const claimed = await this.repository.claim(run.run_id, found);
    if (!claimed) return null;
    // Acknowledging each claim would cost as much as a call. This is early enough for the run to continue prefetching.
    if (claimed.unacknowledged >= claimed.left) this.acknowledgeInBackground(run);
    writeSequence(body, fetch);
    return body;
  }

  /** Sends the claims to the run. It must receive them before a call that fetches the next rows. */
  async acknowledgeClaims(tx: Tx, run: CalledRun): Promise<void> {
    const ids = await this.repository.deleteClaimed(tx, run.run_id);
    if (ids.length > 0) await this.channels.send(tx, run, encodeCall({ op: 'claimed', ids }));
  }

  /** Throws a 409 if another request claimed the rows while this answer was on its way. It takes two concurrent fetches. */
  async assertNotClaimed(run: CalledRun, { id, insteadOf }: CallAnswer): Promise<void> {
    if (insteadOf === undefined || !(await this.repository.takeRefusal(run.run_id, id))) return;
    throw conflict(
      'THRIFT.ROWS_TAKEN',
      'Another request has already fetched these rows. Do not fetch one result with several requests at once.',
    );
  }

  private acknowledgeInBackground(run: CalledRun): void {
    runAsCaller(() => this.transactions.run((tx) => this.acknowledgeClaims(tx, run))).catch((error: unknown) =>
      // The next call sends the claims.
      this.logger.debug(
        { err: error, run_id: run.run_id },
        'Could not send the claims of prefetched results to a job; the next call sends them',
      ),
    );
  }
}

/** Joins the frames of one answer; returns null if they are not exactly the frames of that answer. */
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
  return joinParts(parts, isDeflated);
}
