import type { EnvReader } from './env-reader';

/** Every queue of the platform. */
const QUEUES = ['cluster-lifecycle', 'jobs'] as const;
export type QueueName = (typeof QUEUES)[number];

export type WorkerConfig = ReturnType<typeof readWorkerConfig>;

export function readWorkerConfig(reader: EnvReader) {
  const env = reader.section('Worker');
  const queues = env.someOf('WORKER_QUEUES', QUEUES, {
    readBy: ['worker'],
    description: 'Queues that this worker serves.',
  });
  const graceMs = env.integer('WORKER_GRACE_MS', {
    default: 2000,
    min: 400,
    unit: 'milliseconds',
    readBy: ['API', 'worker'],
    description:
      'Time that a worker whose session with PostgreSQL ended has to come back before other workers take over its work.',
  });
  // A worker must notice that its session is lost, and try again, before the grace has passed.
  const longestWatchMs = Math.floor(graceMs / 4);
  const healthPort = env.integer('WORKER_HEALTH_PORT', {
    default: 0,
    min: 0,
    max: 65535,
    readBy: ['worker'],
    description: 'Port on `HOST` where the worker answers the probes `/live` and `/ready`. `0` disables them.',
  });
  return {
    queues,
    concurrency: env.integer('WORKER_CONCURRENCY', {
      default: 10,
      min: 1,
      max: 1000,
      readBy: ['worker'],
      description: 'Number of jobs of one queue that this worker handles at once.',
    }),
    leaseMs: env.integer('WORKFLOW_LEASE_MS', {
      default: 15_000,
      min: 500,
      unit: 'milliseconds',
      readBy: ['worker'],
      description:
        'Time after which another worker takes over a workflow whose worker has a session with PostgreSQL but is silent.',
    }),
    graceMs,
    watchMs: env.integer('WORKER_WATCH_MS', {
      default: Math.min(500, longestWatchMs),
      min: 50,
      max: longestWatchMs,
      unit: 'milliseconds',
      allowed: '50 to a quarter of `WORKER_GRACE_MS`',
      defaultText: '`500`, or a quarter of `WORKER_GRACE_MS` if that is less',
      readBy: ['API', 'worker'],
      description:
        'Interval at which one process looks for workers that have lost their session, and each worker confirms its own.',
    }),
    reconcileMs: env.integer('RECONCILE_INTERVAL_MS', {
      default: 5000,
      min: 100,
      unit: 'milliseconds',
      readBy: ['worker'],
      description: 'Pause between two passes of a reconciler.',
    }),
    endedRowsKeptDays: env.integer('ENDED_ROWS_RETENTION_DAYS', {
      default: 90,
      min: 1,
      unit: 'days',
      readBy: ['worker'],
      description:
        'Time after which ended logins, ended personal tokens and the ids of deleted files of object stores are removed.',
    }),
    relayPollMs: env.integer('OUTBOX_POLL_MS', {
      default: 2000,
      min: 100,
      unit: 'milliseconds',
      readBy: ['worker'],
      description: 'Interval at which the worker reads the outbox when no notification arrives.',
    }),
    replacementsPerHour: env.integer('CLUSTER_REPLACEMENTS_PER_HOUR', {
      default: 10,
      min: 0,
      max: 1000,
      readBy: ['worker'],
      description:
        'Number of lost nodes that a cluster gets replaced within an hour. A cluster that loses more ends in ERROR.',
    }),
    spotFallbackMinutes: env.integer('SPOT_FALLBACK_MINUTES', {
      default: 5,
      min: 0,
      max: 10_080,
      unit: 'minutes',
      readBy: ['worker'],
      description:
        'Time after which a spot cluster gets machines at the regular price because its provider has no spot machine.',
    }),
    kernelIdleMinutes: env.integer('KERNEL_IDLE_MINUTES', {
      default: 60,
      min: 1,
      max: 10_080,
      unit: 'minutes',
      readBy: ['worker'],
      description: 'Time after which a notebook that executes nothing and has no client is stopped.',
    }),
    healthPort: healthPort === 0 ? null : healthPort,
  };
}
