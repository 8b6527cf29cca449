import { Injectable } from '@nestjs/common';
import { decodeAnswer } from '../../../../../libs/contracts/call-message';
import type { NumberedPayload } from '../../../../../libs/contracts/channel-records';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { SQL_SERVER } from '../jobs/run-kinds';
import { type FramedRun, FrameConsumer } from '../channels/frame-consumer';
import { type NewAnswer, ResultPrefetchRepository } from './result-prefetch.repository';

/** Takes in the answers that come ahead of being asked for. */
@Injectable()
export class ThriftFramesService extends FrameConsumer {
  readonly jobType = SQL_SERVER.jobType;

  constructor(private readonly ahead: ResultPrefetchRepository) {
    super();
  }

  read(_tenantId: string, frames: readonly NumberedPayload[]): Promise<NumberedPayload[]> {
    return Promise.resolve([...frames]);
  }

  async consume(tx: Tx, run: FramedRun, frames: readonly NumberedPayload[]): Promise<void> {
    const { added, removed, givenAs } = changesBy(frames);
    if (removed.size > 0) {
      const there = await this.ahead.remove(tx, run.run_id, [...removed]);
      const refused = [...givenAs].flatMap(([id, call]) => (there.has(id) ? [] : [call]));
      if (refused.length > 0) await this.ahead.refuse(tx, run.run_id, refused);
    }
    if (added.size > 0) await this.ahead.add(tx, run.run_id, [...added.values()]);
  }
}

/** What frames say, in their order, about answers that come ahead. */
function changesBy(frames: readonly NumberedPayload[]) {
  const added = new Map<string, NewAnswer>();
  const removed = new Set<string>();
  /** Answers that had come ahead, and the calls that were given them instead: nobody else may have claimed those. */
  const givenAs = new Map<string, string>();
  for (const { number, payload } of frames) {
    const header = decodeAnswer(payload)?.header;
    if (header?.op === 'void') {
      for (const id of header.ids) if (!added.delete(id)) removed.add(id);
    }
    if (header?.op !== 'answer') continue;
    const { id, ahead, instead_of: insteadOf } = header;
    if (insteadOf !== undefined && !added.delete(insteadOf)) {
      removed.add(insteadOf);
      givenAs.set(insteadOf, id);
    }
    if (ahead && number >= ahead.parts) {
      added.set(id, { call_id: id, key: ahead.key, first: number - ahead.parts + 1, last: number });
    }
  }
  return { added, removed, givenAs };
}
