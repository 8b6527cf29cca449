import { Injectable } from '@nestjs/common';
import { decodeAnswer } from '../../../../../libs/contracts/call-message';
import type { NumberedPayload } from '../../../../../libs/contracts/channel-records';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { SQL_SERVER } from '../jobs/run-kinds';
import { type FramedRun, FrameConsumer } from '../channels/frame-consumer';
import { type PrefetchedAnswer, ResultPrefetchRepository } from './result-prefetch.repository';

/** Records the prefetched answers in the frames of SQL servers. */
@Injectable()
export class ThriftFramesService extends FrameConsumer {
  readonly jobType = SQL_SERVER.jobType;

  constructor(private readonly prefetched: ResultPrefetchRepository) {
    super();
  }

  read(_tenantId: string, frames: readonly NumberedPayload[]): Promise<NumberedPayload[]> {
    return Promise.resolve([...frames]);
  }

  async consume(tx: Tx, run: FramedRun, frames: readonly NumberedPayload[]): Promise<void> {
    const { added, removed, replacedBy } = changesOf(frames);
    if (removed.size > 0) {
      const unclaimed = await this.prefetched.remove(tx, run.run_id, [...removed]);
      const refused = [...replacedBy].flatMap(([id, call]) => (unclaimed.has(id) ? [] : [call]));
      if (refused.length > 0) await this.prefetched.refuse(tx, run.run_id, refused);
    }
    if (added.size > 0) await this.prefetched.add(tx, run.run_id, [...added.values()]);
  }
}

/** Returns the changes of prefetched answers that the frames make, in their order. */
function changesOf(frames: readonly NumberedPayload[]) {
  const added = new Map<string, PrefetchedAnswer>();
  const removed = new Set<string>();
  /** Prefetched answers by the call that returned the same rows instead. They must not have been claimed as well. */
  const replacedBy = new Map<string, string>();
  for (const { number, payload } of frames) {
    const header = decodeAnswer(payload)?.header;
    if (header?.op === 'void') {
      for (const id of header.ids) if (!added.delete(id)) removed.add(id);
    }
    if (header?.op !== 'answer') continue;
    const { id, ahead, instead_of: insteadOf } = header;
    if (insteadOf !== undefined && !added.delete(insteadOf)) {
      removed.add(insteadOf);
      replacedBy.set(insteadOf, id);
    }
    if (ahead && number >= ahead.parts) {
      added.set(id, { call_id: id, key: ahead.key, first: number - ahead.parts + 1, last: number });
    }
  }
  return { added, removed, replacedBy };
}
