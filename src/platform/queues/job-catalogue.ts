import { IsInt, IsPositive } from 'class-validator';

/** Payload of every workflow job: which instance to continue. */
export class WorkflowPayload {
  @IsInt() @IsPositive() workflow_job_instance_id: number;
}

/** Payload of a job about one cluster. */
export class ClusterPayload {
  @IsInt() @IsPositive() cluster_id: number;
}

export interface JobDefinition<P extends object = object> {
  queue: string;
  payload: new () => P;
  /** Deliveries before BullMQ gives up; workflows and reconcilers pick up what was given up. */
  attempts: number;
  backoffMs: number;
  /** A worker silent for this long loses the job to another, milliseconds. */
  lockMs: number;
  /** How many finished and failed jobs Redis keeps for inspection. */
  keepCompleted: number;
  keepFailed: number;
}

const workflow = {
  payload: WorkflowPayload,
  attempts: 5,
  backoffMs: 500,
  lockMs: 30_000,
  keepCompleted: 100,
  keepFailed: 1000,
};

/**
 * Every job there is. The relay, the workers and the handlers are typed by it: a queue without settings or a job
 * without a handler does not compile or does not boot.
 */
export const JOB_CATALOGUE = {
  'cluster.start': { ...workflow, queue: 'cluster-lifecycle' },
  'cluster.stop': { ...workflow, queue: 'cluster-lifecycle' },
  'cluster.destroy': { ...workflow, queue: 'cluster-lifecycle' },
  'job.dispatch': { ...workflow, payload: ClusterPayload, queue: 'jobs' },
} as const satisfies Record<string, JobDefinition>;

export type JobName = keyof typeof JOB_CATALOGUE;
export type PayloadOf<N extends JobName> = InstanceType<(typeof JOB_CATALOGUE)[N]['payload']>;

export const JOB_NAMES = Object.keys(JOB_CATALOGUE) as JobName[];

export function isJobName(name: string): name is JobName {
  return name in JOB_CATALOGUE;
}

/** Every queue, each once. */
export const QUEUE_NAMES = [...new Set(JOB_NAMES.map((name) => JOB_CATALOGUE[name].queue))];
