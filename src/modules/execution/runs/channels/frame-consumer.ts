import type { NumberedPayload } from '../../../../../libs/contracts/channel-records';
import type { Tx } from '../../../../platform/kernel/persistence/sql';

/** The run that frames are from. */
export interface FramedRun {
  run_id: number;
  tenant_id: string;
  workspace_id: number;
  job_conf_id: number;
  cluster_id: number;
}

/**
 * What a domain does with the frames of its runs. Nest finds the consumers among the providers of the process that agents
 * call.
 */
export abstract class FrameConsumer<Frame = NumberedPayload> {
  abstract readonly jobType: string;

  /**
   * Parses payloads, one frame for each, before the transaction begins: this may have to wait, and must not do so while it
   * holds a connection. A payload may be any bytes, since the job can write whatever it likes.
   */
  abstract read(tenantId: string, frames: readonly NumberedPayload[]): Promise<Frame[]>;

  /**
   * Takes in frames in the transaction that stores them, each once and in order. A frame that makes no sense must be skipped,
   * since a failure would hold up all frames after it.
   */
  abstract consume(tx: Tx, run: FramedRun, frames: readonly Frame[]): Promise<void>;
}
