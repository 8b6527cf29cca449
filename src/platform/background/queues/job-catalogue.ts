import { IsInt, IsPositive } from 'class-validator';
import type { QueueName } from '../../../config/worker.config';

/** Payload of every workflow job, which names the instance to continue. */
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
  /** Deliveries before BullMQ gives up. Reconcilers enqueue the job again. */
  attempts: number;
  backoffMs: number;
  /** A worker that does not renew its lock for this long loses the job to another one, milliseconds. */
  lockMs: number;
  /** Number of completed jobs that Redis keeps for inspection, and of failed ones. */
  keepCompleted: number;
  keepFailed: number;
}

/** Settings of every job. */
const DEFAULTS = {
  attempts: 5,
  backoffMs: 500,
  // If a worker dies between taking a job and claiming its work, only the end of this lock reveals it.
  lockMs: 3_000,
  keepCompleted: 100,
  keepFailed: 1000,
};

/** Jobs that belong to no workflow. Senders and handlers get their types from it, and a worker with an unhandled job does not boot. */
const JOB_CATALOGUE = {
  'job.dispatch': { ...DEFAULTS, payload: ClusterPayload, queue: 'jobs' },
} as const satisfies Record<string, JobDefinition>;

export type JobName = keyof typeof JOB_CATALOGUE;
export type PayloadOf<N extends JobName> = InstanceType<(typeof JOB_CATALOGUE)[N]['payload']>;

const jobs = new Map<string, JobDefinition>(Object.entries(JOB_CATALOGUE));

/** Adds the job of a workflow. Only `defineWorkflow` calls this. */
export function registerWorkflowJob(name: string, queue: QueueName): void {
  if (jobs.has(name)) throw new Error(`Job ${name} is defined twice`);
  jobs.set(name, { ...DEFAULTS, payload: WorkflowPayload, queue });
}

/** Returns every job that this process knows: those of the catalogue and those of workflows. */
export function knownJobs(): ReadonlyMap<string, JobDefinition> {
  return jobs;
}
