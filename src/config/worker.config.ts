import type { EnvReader } from './env-reader';

/** Every queue of the platform. */
const QUEUES = ['cluster-lifecycle', 'jobs'] as const;
export type QueueName = (typeof QUEUES)[number];

export interface WorkerConfig {
  /** Queues this pod serves. */
  queues: QueueName[];
  /** Jobs of one queue handled at once by this pod. */
  concurrency: number;
  /** A workflow whose worker is silent for this long is taken over, milliseconds. */
  leaseMs: number;
  /** How long a worker whose session with PostgreSQL ended has to come back before others take over, milliseconds. */
  graceMs: number;
  /** Between two looks for workers without a session, milliseconds. */
  watchMs: number;
  /** Between two passes of the reconcilers, milliseconds. */
  reconcileMs: number;
  /** Ids of deleted files, and ended logins and personal tokens, are removed after this, days. */
  endedRowsKeptDays: number;
  /** Interval at which the outbox is read even without a wake-up, milliseconds. */
  relayPollMs: number;
  /** Nodes that a cluster gets within an hour in the place of lost ones; then it ends in ERROR. */
  replacementsPerHour: number;
  /** A spot cluster gets machines at the usual price when there were no others for so long, minutes. */
  spotFallbackMinutes: number;
  /** A notebook without work and without a client is stopped after this, minutes. */
  kernelIdleMinutes: number;
  /** Where the worker answers liveness and readiness probes; null serves none. */
  healthPort: number | null;
}

export function readWorkerConfig(env: EnvReader): WorkerConfig {
  const healthPort = env.integer('WORKER_HEALTH_PORT', { default: 0, min: 0, max: 65535 });
  const graceMs = env.integer('WORKER_GRACE_MS', { default: 2000, min: 400 });
  // A worker must notice that its session is lost, and try again, before the grace has passed.
  const longestWatchMs = Math.floor(graceMs / 4);
  return {
    queues: env.someOf('WORKER_QUEUES', QUEUES),
    concurrency: env.integer('WORKER_CONCURRENCY', { default: 10, min: 1, max: 1000 }),
    leaseMs: env.integer('WORKFLOW_LEASE_MS', { default: 15_000, min: 500 }),
    graceMs,
    watchMs: env.integer('WORKER_WATCH_MS', { default: Math.min(500, longestWatchMs), min: 50, max: longestWatchMs }),
    reconcileMs: env.integer('RECONCILE_INTERVAL_MS', { default: 5000, min: 100 }),
    endedRowsKeptDays: env.integer('ENDED_ROWS_RETENTION_DAYS', { default: 90, min: 1 }),
    relayPollMs: env.integer('OUTBOX_POLL_MS', { default: 2000, min: 100 }),
    replacementsPerHour: env.integer('CLUSTER_REPLACEMENTS_PER_HOUR', { default: 10, min: 0, max: 1000 }),
    spotFallbackMinutes: env.integer('SPOT_FALLBACK_MINUTES', { default: 5, min: 0, max: 10_080 }),
    kernelIdleMinutes: env.integer('KERNEL_IDLE_MINUTES', { default: 60, min: 1, max: 10_080 }),
    healthPort: healthPort === 0 ? null : healthPort,
  };
}
