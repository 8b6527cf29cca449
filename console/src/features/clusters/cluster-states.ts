import type { Reason } from '../../shared/rights/rights';
import { texts } from '../../shared/texts';

type ClusterAction = 'start' | 'stop' | 'destroy' | 'restore' | 'resize';

/** The states in which the API takes each action; the state to wait for comes first. */
const STATES: Readonly<Record<ClusterAction, readonly [string, ...string[]]>> = {
  start: ['STOPPED'],
  stop: ['RUNNING'],
  destroy: ['STOPPED', 'RUNNING', 'ERROR'],
  restore: ['DESTROYED'],
  resize: ['RUNNING', 'RESIZING_UP', 'RESIZING_DOWN'],
};

/** Returns what is done next with a cluster in this state, or in the one that follows it. */
export function mainActionOf(status: string): Exclude<ClusterAction, 'destroy' | 'resize'> {
  if (status === 'DESTROYED' || status === 'DESTROYING') return 'restore';
  return ['STOPPED', 'STOPPING', 'ERROR'].includes(status) ? 'start' : 'stop';
}

/** Returns why the state of a cluster forbids an action, and when it does not. */
export function reasonOf(action: ClusterAction, status: string): Reason {
  const [first, ...others] = STATES[action];
  if (first === status || others.includes(status)) return null;
  const { forbidden, failed } = texts.cluster;
  // A failed cluster does not come into another state by itself.
  return status === 'ERROR' ? failed[action] : forbidden(status, action, [first, ...others]);
}
