import { queryOptions } from '@tanstack/react-query';
import {
  getJob,
  getJobLog,
  getJobMetrics,
  getRunTimeline,
  killJob,
  listJobs,
  searchJobLog,
} from 'managed-spark/operations';
import type { JobRead, JobStatus } from 'managed-spark/types';
import { api } from '../../api/client';
import { pollMs } from '../../shared/live/live-queries';
import { orNone } from '../../shared/records';
import { readingLog } from '../../shared/log/log-requests';
import type { LogSource } from '../../shared/log/log-window';
import { isActive } from './runs-search';

export interface RunKey {
  workspaceId: number;
  runId: number;
}

export type LogStream = 'stdout' | 'stderr' | 'events';

const SUCCEEDED: JobStatus = 'DONE';
/** So many successes of a job are searched for one before a run. */
const SUCCESSES = 100;
const POLL_MS = 1_500;
const METRICS_POLL_MS = 5_000;
const TIMELINE_POLL_MS = 5_000;

const pathOf = ({ workspaceId: workspace_id, runId: job_id }: RunKey) => ({ workspace_id, job_id });

/** A run, which is read again until it has ended. */
export const runQuery = (key: RunKey) =>
  queryOptions({
    queryKey: ['run', key],
    queryFn: ({ signal }) => api.call(getJob, { path: pathOf(key), signal }),
    meta: { isChangedBy: ({ data }) => data.job_id === key.runId },
    refetchInterval: ({ state: { data } }) => (data && !isActive(data.job_status) ? false : pollMs(POLL_MS)),
  });

/** The last run of the same job that succeeded before this one; null if there is none among the last successes. */
export const lastSuccessQuery = ({ workspace_id, job_id, job_conf: { job_conf_id } }: JobRead) =>
  queryOptions({
    queryKey: ['run-before', workspace_id, job_id],
    queryFn: async ({ signal }): Promise<JobRead | null> => {
      const query = { job_conf_id, job_status: [SUCCEEDED], limit: SUCCESSES };
      const runs = await orNone(api.call(listJobs, { path: { workspace_id }, query, signal }));
      return runs.find((run) => run.job_id < job_id) ?? null;
    },
    staleTime: Infinity,
  });

/**
 * The phases of the run, and every state of run, cluster and nodes meanwhile. They are read again when the state of the run has
 * changed, and while the run is active when a cluster or node may have changed.
 */
export const timelineQuery = (key: RunKey, status: string) =>
  queryOptions({
    queryKey: ['run-timeline', key, status],
    queryFn: ({ signal }) =>
      api.call(getRunTimeline, { path: { workspace_id: key.workspaceId, run_id: key.runId }, signal }),
    placeholderData: (before) => before,
    meta: {
      isChangedBy: ({ kind, data }) =>
        data.job_id === key.runId || (isActive(status) && (kind === 'cluster' || kind === 'node')),
    },
    refetchInterval: () => (isActive(status) ? pollMs(TIMELINE_POLL_MS) : false),
  });

export const metricsQuery = (key: RunKey, isLive: boolean) =>
  queryOptions({
    queryKey: ['run-metrics', key, isLive],
    queryFn: ({ signal }) => api.call(getJobMetrics, { path: pathOf(key), signal }),
    refetchInterval: isLive ? METRICS_POLL_MS : false,
    placeholderData: (before) => before,
  });

export async function stopRun(key: RunKey): Promise<void> {
  await api.call(killJob, { path: pathOf(key) });
}

/** The log of a run, read by bytes. */
export function logSource(key: RunKey, stream: LogStream): LogSource {
  const path = { ...pathOf(key), log_type: stream };
  const send = (
    query: { last_n_lines?: number; offset?: number; file_size_bytes?: number; follow?: boolean },
    signal: AbortSignal,
  ) => api.send(getJobLog, { path, query, signal });
  return {
    ...readingLog(send),
    async find({ text, from, direction, signal, onProgress }) {
      for (let at = from; ;) {
        const query = { text, direction, offset: at, limit: 1 };
        const { matches, next_offset: next } = await api.call(searchJobLog, { path, query, signal });
        const [match] = matches;
        if (match || next === null) return match?.offset ?? null;
        onProgress((at = next));
      }
    },
    async *follow(offset, signal) {
      const { body } = await send({ offset, follow: true }, signal);
      const reader = body?.getReader();
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) yield part.value;
    },
  };
}
