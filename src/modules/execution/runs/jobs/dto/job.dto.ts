import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Example, Field, Param } from '../../../../../platform/kernel/dto/fields';
import { PageQuery } from '../../../../../platform/kernel/dto/page';
import { JOB_LANGUAGE_FILTERS, JOB_TYPES } from '../job-types';
import { RUN_STATUSES } from '../run-state';
import { JobClusterInfo, JobConfSummary } from './job-conf.dto';

@Example({ job_conf_name: 'example-job' })
export class CreateJob {
  @Field.id({ optional: true }) job_conf_id?: number;
  @Field.text({ optional: true, minLength: 1 }) job_conf_name?: string;
  @Field.text({ optional: true, nullable: true, description: 'Arguments for this run only' }) arguments?: string | null;
  @Field.texts({ optional: true, nullable: true, description: 'Spark properties for this run only, each as key=value' })
  conf?: string[] | null;
}

export class JobListQuery extends PageQuery {
  @Param.id() cluster_id?: number;
  @Param.ids() cluster_ids?: number[];
  @Param.id() job_conf_id?: number;
  @Param.text() job_conf_name?: string;
  @Param.ids() job_conf_ids?: number[];
  @Param.someOf(RUN_STATUSES) job_status?: string[];
  @Param.someOf(JOB_TYPES) job_type?: string[];
  @Param.someOf(JOB_LANGUAGE_FILTERS) job_type_langs?: string[];
  @Param.ids() created_by_ids?: number[];
  @Param.ids() modified_by_ids?: number[];
}

export class JobSearchQuery extends PageQuery {
  @Param.text({ optional: false, description: 'Part of the name of the configuration' }) job_conf_name: string;
  @Param.id() cluster_id?: number;
  @Param.ids() cluster_ids?: number[];
  @Param.id() job_conf_id?: number;
  @Param.ids() job_conf_ids?: number[];
  @Param.someOf(RUN_STATUSES) job_status?: string[];
  @Param.someOf(JOB_TYPES) job_type?: string[];
  @Param.someOf(JOB_LANGUAGE_FILTERS) job_type_langs?: string[];
  @Param.ids() created_by_ids?: number[];
  @Param.ids() modified_by_ids?: number[];
}

export class JobLogQuery {
  @Param.int32({ min: 1, max: 1000, description: 'Only this many lines, from the end' }) last_n_lines?: number;
  @Param.int64({ min: 1, description: 'Only this many bytes, from the start' }) file_size_bytes?: number;
  @Param.int64({
    min: 0,
    description:
      'Only the log from this byte on; to continue, send the value of the x-log-offset header of the last response',
  })
  offset?: number;
  @Param.boolean({
    default: false,
    description:
      'true streams the log until the job has ended; to resume after a disconnect, send x-log-offset plus the bytes received as offset',
  })
  follow: boolean = false;
}

export class JobCreated extends WriteAudit {
  @Field.idText() job_id: string;
  @Field.idText() job_conf_id: string;
  @Field.idText() cluster_id: string;
  @Field.idText() workspace_id: string;
  @Field.oneOf(RUN_STATUSES) job_status: string;
  @Field.text({ nullable: true }) arguments: string | null;
  @Field.texts({ nullable: true }) conf: string[] | null;
  @Field.uuid() tenant_id: string;
}

export class JobWorkflowStatus {
  @Field.id() workflow_job_instance_id: number;
  @Field.id() workflow_job_id: number;
  @Field.text() status: string;
  @Field.timestamp() from_date: Date;
  @Field.text() to_date: Date | string;
}

export class JobWorkflow {
  @Field.object(() => JobWorkflowStatus) workflow_job_instance_status: JobWorkflowStatus;
}

export class JobWorkflowStates extends JobWorkflowStatus {
  @Field.texts({ description: 'Earlier states of the workflow, oldest first' })
  previous_status: string[];
}

export class JobWorkflowWithStates {
  @Field.object(() => JobWorkflowStates) workflow_job_instance_status: JobWorkflowStates;
}

export class JobWorkflowDetails extends ReadAudit {
  @Field.id() job_id: number;
  @Field.text({ description: "Spark's application id" }) job_application_id: string;
  @Field.oneOf(RUN_STATUSES) job_status: string;
  @Field.id() cluster_id: number;
  @Field.object(() => JobWorkflowWithStates) workflow_job_instance_details: JobWorkflowWithStates;
  @Field.uuid() tenant_id: string;
}

/** A run of any kind, with how its driver came to be. */
export class RunRead extends ReadAudit {
  @Field.boolean({
    nullable: true,
    description:
      'True if a driver that already waited for runs took it, false if a driver was started for it. Null until its node has reported ' +
      'which, and on nodes that keep no drivers ready.',
    example: false,
  })
  started_warm: boolean | null;
  @Field.text({
    nullable: true,
    description: 'Why a driver was started for it; null if a waiting one took it, or if that is not known',
    example: 'No driver was ready.',
  })
  cold_reason: string | null;
}

export class JobRead extends RunRead {
  @Field.id() job_id: number;
  @Field.text({ nullable: true, description: "Spark's application id" }) job_application_id: string | null;
  @Field.oneOf(RUN_STATUSES) job_status: string;
  @Field.id() cluster_id: number;
  @Field.object(() => JobClusterInfo) cluster_info: JobClusterInfo;
  @Field.id() workspace_id: number;
  @Field.object(() => JobConfSummary) job_conf: JobConfSummary;
  @Field.text({ nullable: true }) arguments: string | null;
  @Field.texts({ nullable: true }) conf: string[] | null;
  @Field.int32({ nullable: true, description: 'Exit code of spark-submit; null until it has ended' }) exit_code:
    | number
    | null;
  @Field.text({ nullable: true, description: 'Stable code for why the run ended' }) reason_code: string | null;
  @Field.text({ nullable: true, description: 'Why the run ended' }) reason: string | null;
  @Field.object(() => JobWorkflow, { nullable: true }) workflow_job_instance_details: JobWorkflow | null;
  @Field.uuid() tenant_id: string;
}

export class JobStatusEntry {
  @Field.oneOf(RUN_STATUSES) job_status: string;
  @Field.text({ nullable: true }) reason: string | null;
  @Field.timestamp() from_date: Date;
  @Field.text({ description: 'ISO 8601, or infinity for the current status' }) to_date: Date | string;
}

export class JobStatusHistory {
  @Field.id() job_id: number;
  @Field.text({ nullable: true }) job_application_id: string | null;
  @Field.oneOf(RUN_STATUSES) job_status: string;
  @Field.objects(() => JobStatusEntry) status_history: JobStatusEntry[];
}

export class JobKillDetails {
  @Field.id() workflow_job_id: number;
  @Field.id() workflow_job_instance_id: number;
  @Field.id({ description: 'The job_id' }) spark_job_instance_id: number;
  @Field.id({ description: 'The job_conf_id' }) spark_job_id: number;
  @Field.id() engine_cluster_instance_id: number;
}

export class JobKill {
  @Field.object(() => JobKillDetails) SparkKill: JobKillDetails;
}

export class CosiKillAllJobs {
  @Field.id() workflow_job_id: number;
  @Field.id() workflow_job_instance_id: number;
  @Field.id() engine_cluster_instance_id: number;
  @Field.id() created_by_user_id: number;
}

export class CosiKillAllJobsResult {
  @Field.object(() => CosiKillAllJobs) CosiKillAllJobsByCluster: CosiKillAllJobs;
}

export class JobStats {
  @Field.int64() SUBMITTED: number;
  @Field.int64() RUNNING: number;
  @Field.int64() DONE: number;
  @Field.int64() ERROR: number;
  @Field.int64() TERMINATED: number;
  @Field.int64() STOPPING: number;
  @Field.int64() STOPPED: number;
  @Field.int64({ description: 'Jobs of every status, KILLING and KILLED included' }) TOTAL_JOB_COUNT: number;
}

export class WorkflowErrorRead {
  @Field.id() workflow_error_id: number;
  @Field.id() workflow_job_instance_id: number;
  @Field.text() error: string;
  @Field.timestamp() from_date: Date;
  @Field.validityEnd() to_date: Date | 'infinity' | null;
}
