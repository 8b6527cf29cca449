import { queryOptions } from '@tanstack/react-query';
import {
  createJob,
  createJobConf,
  disableJobConf,
  enableJobConf,
  getJobConf,
  listJobConfs,
  listJobs,
  updateJobConf,
} from 'managed-spark/operations';
import type { CreateJobConf, JobConfListItem, UpdateJobConf } from 'managed-spark/types';
import { api } from '../../api/client';
import { pollMs } from '../../shared/live/live-queries';
import { orNone } from '../../shared/records';
import { readText } from './files-api';
import { type Language, recordsText } from '../../shared/jobs/job-fields';

const MAX_JOBS = 1000;
/** So many runs of a job are compared. */
const MAX_RUNS = 100;
const POLL_MS = 5_000;

export const jobsQuery = (workspaceId: number) =>
  queryOptions({
    queryKey: ['jobs', workspaceId],
    queryFn: ({ signal }) =>
      orNone(api.call(listJobConfs, { path: { workspace_id: workspaceId }, query: { limit: MAX_JOBS }, signal })),
    // A job shows how its last run ended.
    meta: { isChangedBy: ({ kind, data }) => kind === 'run' && data.workspace_id === workspaceId },
    refetchInterval: () => pollMs(POLL_MS),
  });

export const jobQuery = (workspaceId: number, jobId: number) =>
  queryOptions({
    queryKey: ['jobs', workspaceId, jobId],
    queryFn: ({ signal }) =>
      api.call(getJobConf, { path: { workspace_id: workspaceId }, query: { job_conf_id: jobId }, signal }),
    // Somebody may be editing it.
    refetchOnWindowFocus: false,
  });

/** The runs of a job with the settings that each was submitted with, the newest first. */
export const jobRunsQuery = (workspaceId: number, jobId: number) =>
  queryOptions({
    queryKey: ['jobs', workspaceId, jobId, 'runs'],
    queryFn: ({ signal }) =>
      orNone(
        api.call(listJobs, {
          path: { workspace_id: workspaceId },
          query: { job_conf_id: jobId, limit: MAX_RUNS },
          signal,
        }),
      ),
    meta: { isChangedBy: ({ kind, data }) => kind === 'run' && data.conf_id === jobId },
    refetchInterval: () => pollMs(POLL_MS),
  });

/** Returns the id of the new job. */
export async function makeJob(workspaceId: number, body: CreateJobConf): Promise<number> {
  const { job_conf_id } = await api.call(createJobConf, { path: { workspace_id: workspaceId }, body });
  return job_conf_id;
}

export async function changeJob(workspaceId: number, jobId: number, body: UpdateJobConf): Promise<void> {
  await api.call(updateJobConf, { path: { workspace_id: workspaceId }, query: { job_conf_id: jobId }, body });
}

export async function switchJob(workspaceId: number, jobId: number, isEnabled: boolean): Promise<void> {
  const operation = isEnabled ? enableJobConf : disableJobConf;
  await api.call(operation, { path: { workspace_id: workspaceId }, query: { job_conf_id: jobId } });
}

/** Submits a run. Returns its id. */
export async function runJob(workspaceId: number, jobId: number, given?: string): Promise<number> {
  const body = { job_conf_id: jobId, ...(given === undefined ? {} : { arguments: given || null }) };
  const { job_id } = await api.call(createJob, { path: { workspace_id: workspaceId }, body });
  return job_id;
}

interface FileRun {
  workspaceId: number;
  path: string;
  language: Language;
  /** The job that runs the file already; null for a new one. */
  job: JobConfListItem | null;
  name: string;
  clusterId: number;
  arguments: string;
}

/** Runs a file by a job, which is made if there is none. Returns the id of the run. */
export async function runFile(run: FileRun): Promise<number> {
  const { workspaceId, path, language, job, name, clusterId } = run;
  const text = recordsText(language) ? (await readText(workspaceId, path)).text : null;
  if (job) {
    // Jobs of this kind have a text of their own, which the file may have left behind.
    if (text !== null && text !== job.rawScalaCode)
      await changeJob(workspaceId, job.job_conf_id, { rawScalaCode: text });
    return runJob(workspaceId, job.job_conf_id, recordsText(language) ? undefined : run.arguments);
  }
  const program = text === null ? { command: path, arguments: run.arguments || null } : { rawScalaCode: text };
  const body = { name, job_type: language, cluster_id: clusterId, extra_info: { file: path }, ...program };
  return runJob(workspaceId, await makeJob(workspaceId, body));
}
