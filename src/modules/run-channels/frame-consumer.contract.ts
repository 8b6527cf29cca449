import type { NumberedPayload } from '../../../libs/contracts/channel-records';
import type { Tx } from '../../platform/persistence/sql';
import type { InteractiveJobType } from '../jobs/jobs.contract';

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
  abstract readonly jobType: InteractiveJobType;

  /**
   * Reads frames, one for each, before the transaction begins: this may have to wait, and nobody waits with a connection in
   * hand. A payload may be any bytes, since the job can write whatever it likes.
   */
  abstract read(tenantId: string, frames: readonly NumberedPayload[]): Promise<Frame[]>;

  /**
   * Takes in frames in the transaction that stores them: each once, in order. One that says nothing sensible must be left
   * out, since a failure would hold up all that follow.
   */
  abstract consume(tx: Tx, run: FramedRun, frames: readonly Frame[]): Promise<void>;
}
