import { Injectable } from '@nestjs/common';
import type { NumberedPayload } from '../../../../../libs/contracts/channel-records';
import { executionCount, type NbOutput, readOutput } from '../../../../../libs/notebooks/outputs';
import { UntrustedJson } from '../../../../platform/kernel/json/untrusted-json';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { FrameConsumer, type FramedRun, NOTEBOOK } from '../../runs';
import { type ExecutedCell, NotebookOutputsService } from '../content/notebook-outputs.service';
import { cellOf, contentOf, FRAME_JSON, type KernelFrame, kernelFrame, keptReply } from './kernel-messages';
import { type KernelUpdate, KernelsRepository } from './kernels.repository';

type MessageFrame = Extract<KernelFrame, { op: 'message' }>;

/** A parsed frame, null if it is invalid, and the content to store if it is a reply. */
interface ReadFrame {
  frame: KernelFrame | null;
  reply: KernelUpdate['replies'][number] | null;
}

/** Messages that become outputs of cells. */
const OUTPUT_TYPES = ['stream', 'display_data', 'execute_result', 'error'];
const CELL_TYPES = [...OUTPUT_TYPES, 'execute_input', 'clear_output'];

/** Consumes the frames of kernels: their states, their replies to requests, and the outputs of cells. */
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
    const update: KernelUpdate = { state: null, replies: [] };
    const cellMessages: MessageFrame[] = [];
    for (const { frame, reply } of frames) {
      if (frame?.op === 'kernel') {
        if (frame.generation >= (update.state?.generation ?? 0)) update.state = frame;
      } else if (reply) {
        update.replies.push(reply);
      } else if (frame && frame.parentId !== null && CELL_TYPES.includes(frame.type)) {
        cellMessages.push(frame);
      }
    }
    await this.kernels.applyUpdate(tx, run.run_id, update);
    if (cellMessages.length > 0) await this.applyOutputs(tx, run, cellMessages);
  }

  /** Applies messages only to cells that the kernel was requested to execute. */
  private async applyOutputs(tx: Tx, run: FramedRun, messages: readonly MessageFrame[]): Promise<void> {
    const parents = [...new Set(messages.flatMap(({ parentId }) => parentId ?? []))];
    const requested = await this.kernels.knownRequests(tx, run.run_id, parents);
    const cells = await this.outputs.cellTypes(tx, run.job_conf_id, [...new Set([...requested].map(cellOf))]);
    let batch: { at: ExecutedCell; outputs: NbOutput[] } | null = null;
    const flush = async () => {
      if (batch) await this.outputs.append(tx, batch.at, batch.outputs);
      batch = null;
    };
    for (const { type, parentId, message } of messages) {
      if (parentId === null || !requested.has(parentId) || cells.get(cellOf(parentId)) !== 'code') continue;
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
      else if (await this.outputs.startExecution(tx, at)) {
        await this.outputs.setExecutionCount(tx, at, executionCount(content['execution_count']));
      }
    }
    await flush();
  }
}

function replyOf(frame: KernelFrame | null): ReadFrame['reply'] {
  if (frame?.op !== 'message' || frame.type !== 'execute_reply' || frame.parentId === null) return null;
  return { msgId: frame.parentId, reply: keptReply(frame.message) };
}
