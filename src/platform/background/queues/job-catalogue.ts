import { IsInt, IsPositive } from 'class-validator';
import type { QueueName } from '../../../config/worker.config';

/** Payload of every workflow job: which instance to continue. */
export class WorkflowPayload {
  @IsInt() @IsPositive() workflow_job_instance_id: number;
}

/** Payload of a job about one cluster. */
export class ClusterPayload {
  @IsInt() @IsPositive() cluster_id: number;
}

export interface JobDefinition<P extends object = object> {
  queue: QueueName;
  payload: new () => P;
  /** Deliveries before BullMQ gives up; workflows and reconcilers then take over. */
  attempts: number;
  backoffMs: number;
  /** A worker silent for this long loses the job to another, milliseconds. */
  lockMs: number;
  /** How many finished and failed jobs Redis keeps for inspection. */
  keepCompleted: number;
  keepFailed: number;
}

/** Of every job so far. */
const PATIENCE = {
  attempts: 5,
  backoffMs: 500,
  // What a worker took from the queue and did not yet claim is known to nobody else.
  lockMs: 3_000,
  keepCompleted: 100,
  keepFailed: 1000,
};

/**
 * Jobs that belong to no workflow. Their senders and handlers are typed by this: a job without a handler does not
 * compile or does not boot.
 */
const JOB_CATALOGUE = {
  'job.dispatch': { ...PATIENCE, payload: ClusterPayload, queue: 'jobs' },
} as const satisfies Record<string, JobDefinition>;

export type JobName = keyof typeof JOB_CATALOGUE;
export type PayloadOf<N extends JobName> = InstanceType<(typeof JOB_CATALOGUE)[N]['payload']>;

const jobs = new Map<string, JobDefinition>(Object.entries(JOB_CATALOGUE));

/** Adds the job of a workflow, which its definition does. */
export function registerWorkflowJob(name: string, queue: QueueName): void {
  if (jobs.has(name)) throw new Error(`Job ${name} is defined twice`);
  jobs.set(name, { ...PATIENCE, payload: WorkflowPayload, queue });
}

/** Every job that this process knows: those of the catalogue and those of the workflows. */
export function knownJobs(): ReadonlyMap<string, JobDefinition> {
  return jobs;
}
