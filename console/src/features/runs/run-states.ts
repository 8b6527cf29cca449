import type { JobStatus } from 'managed-spark/types';
import type { Reason } from '../../shared/rights/rights';
import { texts } from '../../shared/texts';
import { isActive } from './runs-search';

const STOPPABLE: readonly JobStatus[] = ['SUBMITTED', 'RUNNING'];

/** Returns why the state of a run forbids to stop it. */
export function whyNotStopped(status: JobStatus): Reason {
  if (STOPPABLE.includes(status)) return null;
  return isActive(status) ? texts.run.ending(status) : texts.run.ended(status);
}
