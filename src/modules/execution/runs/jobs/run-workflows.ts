import { defineWorkflow } from '../../../../platform/background/workflows/workflow-definition';

/** Stops all runs of a cluster that were submitted before the workflow was requested. */
export const STOP_ALL_RUNS = defineWorkflow({
  type: 'cosi_kill_all_jobs_by_cluster',
  subject: 'cluster',
  job: { name: 'cluster.stop_all_jobs', queue: 'jobs' },
  deadlineMs: 15 * 60_000,
});
