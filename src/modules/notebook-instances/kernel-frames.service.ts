import { Injectable } from '@nestjs/common';
import type { NumberedPayload } from '../../../libs/contracts/channel-records';
import type { Tx } from '../../platform/persistence/sql';
import { type FramedRun, FrameConsumer } from '../run-channels/frame-consumer.contract';
import { keptReply, readKernelFrame } from './kernel-messages';
import { type KernelNews, KernelsRepository } from './kernels.repository';

/** Takes in what kernels say: their states, and the answers to what they were asked. */
@Injectable()
export class KernelFramesService extends FrameConsumer {
  readonly jobType = 'NOTEBOOK';

  constructor(private readonly kernels: KernelsRepository) {
    super();
  }

  async consume(tx: Tx, run: FramedRun, frames: readonly NumberedPayload[]): Promise<void> {
    const news: KernelNews = { state: null, replies: [] };
    for (const { payload } of frames) {
      const frame = readKernelFrame(payload);
      if (frame?.op === 'kernel') {
        if (frame.generation >= (news.state?.generation ?? 0)) news.state = frame;
      } else if (frame?.type === 'execute_reply' && frame.parentId !== null) {
        news.replies.push({ msgId: frame.parentId, reply: keptReply(frame.message) });
      }
    }
    await this.kernels.note(tx, run.run_id, news);
  }
}
