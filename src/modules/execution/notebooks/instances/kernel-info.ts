import type { Run } from '../../runs';
import type { KernelInfo } from './dto/notebook.dto';
import { kernelState } from './kernel-state';
import type { KernelRow } from './kernels.repository';

/** Returns the kernel in the form of responses. */
export function kernelInfo(run: Pick<Run, 'status' | 'job_conf_snapshot'>, kernel: KernelRow): KernelInfo {
  return {
    kernel_id: kernel.kernel_id,
    kernel_name: run.job_conf_snapshot.language.toLowerCase(),
    kernel_status: kernelState(run.status, kernel.state),
    last_activity: kernel.last_activity,
    connections: kernel.connections,
    reason: kernel.reason,
  };
}
