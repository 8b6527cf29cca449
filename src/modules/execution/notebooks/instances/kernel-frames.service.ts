import { Injectable } from '@nestjs/common';
import type { NumberedPayload } from '../../../../../libs/contracts/channel-records';
import { executionCount, type NbOutput, readOutput } from '../../../../../libs/notebooks/outputs';
import { UntrustedJson } from '../../../../platform/kernel/json/untrusted-json';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { FrameConsumer, type FramedRun, NOTEBOOK } from '../../runs';
import { type ExecutedCell, NotebookOutputsService } from '../content/notebook-outputs.service';
import { cellOf, contentOf, FRAME_JSON, type KernelFrame, kernelFrame, keptReply } from './kernel-messages';
import { type KernelNews, KernelsRepository } from './kernels.repository';

type MessageFrame = Extract<KernelFrame, { op: 'message' }>;

/** A frame, null if it could not be read, and the part of it that is kept if it is a reply. */
interface ReadFrame {
  frame: KernelFrame | null;
  reply: KernelNews['replies'][number] | null;
}

/** Messages that become outputs of cells. */
const OUTPUT_TYPES = ['stream', 'display_data', 'execute_result', 'error'];
const CELL_TYPES = [...OUTPUT_TYPES, 'execute_input', 'clear_output'];

/** Takes in what kernels say: their states, the answers to what they were asked, and the outputs of cells. */
@Injectable()
export class KernelFramesService extends FrameConsumer<ReadFrame> {
  readonly jobType = NOTEBOOK.jobType;

  constructor(
    private readonly kernels: KernelsRepository,
    private readonly outputs: NotebookOutputsService,
    private readonly json: UntrustedJson,
  ) {
    super();
  }

  async read(tenantId: string, frames: readonly NumberedPayload[]): Promise<ReadFrame[]> {
    const read: ReadFrame[] = [];
    for (const { payload } of frames) {
      const frame = kernelFrame(await this.json.readOpaque(tenantId, payload, FRAME_JSON));
      read.push({ frame, reply: replyOf(frame) });
    }
    return read;
  }

  async consume(tx: Tx, run: FramedRun, frames: readonly ReadFrame[]): Promise<void> {
    const news: KernelNews = { state: null, replies: [] };
    const ofCells: MessageFrame[] = [];
    for (const { frame, reply } of frames) {
      if (frame?.op === 'kernel') {
        if (frame.generation >= (news.state?.generation ?? 0)) news.state = frame;
      } else if (reply) {
        news.replies.push(reply);
      } else if (frame && frame.parentId !== null && CELL_TYPES.includes(frame.type)) {
        ofCells.push(frame);
      }
    }
    await this.kernels.note(tx, run.run_id, news);
    if (ofCells.length > 0) await this.takeOutputs(tx, run, ofCells);
  }

  /** A kernel writes only to cells that somebody had it execute. */
  private async takeOutputs(tx: Tx, run: FramedRun, messages: readonly MessageFrame[]): Promise<void> {
    const parents = [...new Set(messages.flatMap(({ parentId }) => parentId ?? []))];
    const asked = await this.kernels.asked(tx, run.run_id, parents);
    const cells = await this.outputs.cells(tx, run.job_conf_id, [...new Set([...asked].map(cellOf))]);
    let batch: { at: ExecutedCell; outputs: NbOutput[] } | null = null;
    const flush = async () => {
      if (batch) await this.outputs.append(tx, batch.at, batch.outputs);
      batch = null;
    };
    for (const { type, parentId, message } of messages) {
      if (parentId === null || !asked.has(parentId) || cells.get(cellOf(parentId)) !== 'code') continue;
      const at = { notebookConfId: run.job_conf_id, cellUuid: cellOf(parentId), runId: run.run_id };
      const content = contentOf(message);
      if (OUTPUT_TYPES.includes(type)) {
        const output = readOutput({ ...content, output_type: type });
        if (!output) continue;
        if (batch?.at.cellUuid !== at.cellUuid) await flush();
        batch ??= { at, outputs: [] };
        batch.outputs.push(output);
        continue;
      }
      await flush();
      if (type === 'clear_output') await this.outputs.clear(tx, at, { waits: content['wait'] === true });
      else if (await this.outputs.begin(tx, at)) {
        await this.outputs.executionCount(tx, at, executionCount(content['execution_count']));
      }
    }
    await flush();
  }
}

function replyOf(frame: KernelFrame | null): ReadFrame['reply'] {
  if (frame?.op !== 'message' || frame.type !== 'execute_reply' || frame.parentId === null) return null;
  return { msgId: frame.parentId, reply: keptReply(frame.message) };
}
