import type { NumberedPayload } from '../../../../../libs/contracts/channel-records';
import type { Tx } from '../../../../platform/kernel/persistence/sql';

/** The run that sent the frames. */
export interface FramedRun {
  run_id: number;
  tenant_id: string;
  workspace_id: number;
  job_conf_id: number;
  cluster_id: number;
}

/**
 * Consumes the frames of one type of run. The consumers are discovered among the providers of the process that serves agents.
 */
export abstract class FrameConsumer<Frame = NumberedPayload> {
  abstract readonly jobType: string;

  /**
   * Parses payloads, one frame for each, before the transaction begins: this may have to wait, and must not do so while it
   * holds a connection. A payload may be any bytes, since the job can write whatever it likes.
   */
  abstract read(tenantId: string, frames: readonly NumberedPayload[]): Promise<Frame[]>;

  /**
   * Consumes frames in the transaction that stores them, each once and in order. An invalid frame must be skipped, since a
   * failure would block all frames after it.
   */
  abstract consume(tx: Tx, run: FramedRun, frames: readonly Frame[]): Promise<void>;
}
