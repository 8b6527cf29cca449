import type { RunEnd } from '../spark/run-end';
import type { StopCause } from './run-journal';

/** The end of a run by the cause of its stop. */
export const STOPPED: Readonly<Record<StopCause, RunEnd>> = {
  stop: { outcome: 'stopped', reason: 'STOP_REQUESTED', message: 'The run was stopped on request.' },
  timeout: {
    outcome: 'terminated',
    reason: 'TIMEOUT',
    message: 'The run took longer than its job_timeout_min. Raise it, or give the job less to do.',
  },
  lease: {
    outcome: 'terminated',
    reason: 'LEASE_EXPIRED',
    message: 'The node could not reach the control plane for longer than its lease, so it ended its runs.',
  },
  'node-stop': { outcome: 'terminated', reason: 'NODE_STOPPED', message: 'The node was stopped.' },
  interruption: {
    outcome: 'terminated',
    reason: 'SPOT_INTERRUPTED',
    message: 'The provider reclaims the machine of the run.',
  },
};
