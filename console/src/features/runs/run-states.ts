import type { JobRead, JobStatus } from 'managed-spark/types';
import type { Reason } from '../../shared/rights/rights';
import { texts } from '../../shared/texts';
import { isActive } from './runs-search';

const STOPPABLE: readonly JobStatus[] = ['SUBMITTED', 'RUNNING'];

/** Returns why the state of a run forbids to stop it. */
export function whyNotStopped(status: JobStatus): Reason {
  if (STOPPABLE.includes(status)) return null;
  return isActive(status) ? texts.run.ending(status) : texts.run.ended(status);
}

/** Returns why Spark's UI of a run cannot be shown. */
export function whyNoSparkUi({
  job_application_id: application,
  job_status: status,
}: Pick<JobRead, 'job_application_id' | 'job_status'>): Reason {
  if (application !== null) return null;
  return isActive(status) ? texts.run.sparkUi.notYet : texts.run.sparkUi.never;
}
