import { nameEnum } from '../../../../platform/kernel/dto/named-enums';
import { isFinished, type RunStatus } from '../../runs';

/** States that a node reports of a kernel. */
export const STORED_KERNEL_STATES = ['starting', 'idle', 'busy', 'restarting', 'dead'] as const;
export type StoredKernelState = (typeof STORED_KERNEL_STATES)[number];

export const KERNEL_STATES = nameEnum(
  'KernelState',
  [...STORED_KERNEL_STATES, 'unknown'],
  'State of a kernel. One that is starting, idle or busy accepts requests.',
  {
    starting: 'its process starts; requests wait for it',
    busy: 'it executes a request; others wait',
    restarting: 'it starts again, without its former variables',
    dead: 'it has ended, with its instance',
    unknown: 'its instance waits for a node',
  },
);
export type KernelState = (typeof KERNEL_STATES)[number];

/** Returns the state of a kernel in responses. It is unknown while the instance waits for a node. */
export function kernelState(status: RunStatus, state: StoredKernelState): KernelState {
  if (isFinished(status)) return 'dead';
  return status === 'SUBMITTED' ? 'unknown' : state;
}

/** Returns true if the kernel can be interrupted or restarted. */
export function kernelRuns(status: RunStatus, state: StoredKernelState): boolean {
  return status === 'RUNNING' && state !== 'dead';
}
