import type { ClusterOperation } from './cluster-state';

/** An operation that has not ended by then fails with its last step as the reason; milliseconds. */
export const OPERATION_DEADLINE_MS: Record<ClusterOperation, number> = {
  start: 15 * 60_000,
  stop: 10 * 60_000,
  destroy: 15 * 60_000,
};

/** What a failed operation has made may be taken down for so long; then it is named and left; milliseconds. */
export const COMPENSATION_MS = 10 * 60_000;
