import { queryOptions } from '@tanstack/react-query';
import { Conflict } from 'managed-spark/core';
import { createJob, createJobConf, getJob, killJob, listJobs, updateJobConf } from 'managed-spark/operations';
import type { ClusterRead, JobRead } from 'managed-spark/types';
import { api } from '../../api/client';
import { orNone } from '../records';

const POLL_MS = 5_000;
const STARTING_POLL_MS = 1_000;

/** A run of the type THRIFT_SQL. */
export interface ServerKey {
  workspaceId: number;
  jobId: number;
}

/** The SQL servers of a workspace that run or wait to run, the newest first. */
export const serversQuery = (workspaceId: number) =>
  queryOptions({
    queryKey: ['sql', 'servers', workspaceId],
    queryFn: ({ signal }): Promise<JobRead[]> => {
      const query = { job_type: ['THRIFT_SQL' as const], job_status: ['RUNNING' as const, 'SUBMITTED' as const] };
      return orNone(
        api.call(listJobs, { path: { workspace_id: workspaceId }, query: { ...query, limit: 100 }, signal }),
      );
    },
    refetchInterval: ({ state: { data } }) =>
      data?.some(({ job_status: status }) => status === 'SUBMITTED') ? STARTING_POLL_MS : POLL_MS,
  });

export const serverQuery = ({ workspaceId, jobId }: ServerKey) =>
  queryOptions({
    queryKey: ['sql', 'server', workspaceId, jobId],
    queryFn: ({ signal }) => api.call(getJob, { path: { workspace_id: workspaceId, job_id: jobId }, signal }),
    refetchInterval: ({ state: { data } }) => (data?.job_status === 'SUBMITTED' ? STARTING_POLL_MS : POLL_MS),
  });

/** Starts a server on a cluster, by the job that the SDKs use, too. Returns its id. */
export async function startServer(workspaceId: number, cluster: ClusterRead): Promise<number> {
  const path = { workspace_id: workspaceId };
  const name = `sql-${cluster.name}`.slice(0, 64);
  const body = { cluster_id: cluster.cluster_id };
  try {
    await api.call(createJobConf, { path, body: { ...body, name, job_type: 'THRIFT_SQL' } });
  } catch (error) {
    if (!(error instanceof Conflict && error.code === 'RECORD.DUPLICATE_NAME')) throw error;
    await api.call(updateJobConf, { path, query: { job_conf_name: name }, body });
  }
  const { job_id } = await api.call(createJob, { path, body: { job_conf_name: name } });
  return job_id;
}

export async function stopServer({ workspaceId, jobId }: ServerKey): Promise<void> {
  await api.call(killJob, { path: { workspace_id: workspaceId, job_id: jobId } });
}
