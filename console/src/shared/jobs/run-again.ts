import { createJob, getJob } from 'managed-spark/operations';
import type { JobRead } from 'managed-spark/types';
import { api } from '../../api/client';

/** Submits the configuration of a run once more, with the arguments and properties of that run. Returns the new run's id. */
export async function runAgain({ workspace_id, job_conf, arguments: given, conf }: JobRead): Promise<number> {
  const body = { job_conf_id: job_conf.job_conf_id, arguments: given, conf };
  const { job_id } = await api.call(createJob, { path: { workspace_id }, body });
  return job_id;
}

/** Like {@link runAgain}, for a run that is known by its id. */
export async function runAgainById(workspaceId: number, runId: number): Promise<number> {
  return runAgain(await api.call(getJob, { path: { workspace_id: workspaceId, job_id: runId } }));
}
