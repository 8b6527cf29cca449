import { nameEnum } from '../../../../../platform/kernel/dto/named-enums';
import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../../platform/kernel/dto/schemas';
import { PageQuery } from '../../../../../platform/kernel/dto/page';
import { SPARK_JOB_TYPES } from '../../../../foundation/reference-data';
import { JOB_LANGUAGE_FILTERS } from '../job-types';
import { REASON_CODES } from '../reason-codes';
import { RUN_STATUSES, RUN_STEPS } from '../run-state';
import { JobClusterInfo, JobConfSummary } from './job-conf.dto';

@Example({ job_conf_name: 'example-job' })
@About('Which configuration to run.', ['job_conf_id', 'job_conf_name'])
export class CreateJob {
  @Field.id({ optional: true }) job_conf_id?: number;
  @Field.text({ optional: true, minLength: 1, description: 'Name of the job configuration, instead of its id' })
  job_conf_name?: string;
  @Field.text({
    optional: true,
    nullable: true,
    description: 'Arguments for this run only, instead of those of the configuration; null or absent for those',
  })
  arguments?: string | null;
  @Field.texts({
    optional: true,
    nullable: true,
    description:
      'Spark properties for this run only, each as key=value, which win over those of the configuration and the cluster; null for none',
  })
  conf?: string[] | null;
}

export class JobListQuery extends PageQuery {
  @Param.id({ description: 'Only jobs on this cluster' }) cluster_id?: number;
  @Param.ids({ description: 'Only jobs on these clusters, in addition to cluster_id' }) cluster_ids?: number[];
  @Param.id({ description: 'Only jobs of this configuration' }) job_conf_id?: number;
  @Param.text({ description: 'Only jobs of the configuration with this name' }) job_conf_name?: string;
  @Param.ids({ description: 'Only jobs of these configurations, in addition to job_conf_id' }) job_conf_ids?: number[];
  @Param.someOf(RUN_STATUSES, { description: 'Only jobs with one of these statuses' }) job_status?: string[];
  @Param.someOf(SPARK_JOB_TYPES, { description: 'Only jobs of these types' }) job_type?: string[];
  @Param.someOf(JOB_LANGUAGE_FILTERS, { description: 'Only jobs in these languages' }) job_type_langs?: string[];
  @Param.ids() created_by_ids?: number[];
  @Param.ids() modified_by_ids?: number[];
}

export class JobSearchQuery extends PageQuery {
  @Param.text({ optional: false, description: 'Part of the name of the configuration' }) job_conf_name: string;
  @Param.id({ description: 'Only jobs on this cluster' }) cluster_id?: number;
  @Param.ids({ description: 'Only jobs on these clusters, in addition to cluster_id' }) cluster_ids?: number[];
  @Param.id({ description: 'Only jobs of this configuration' }) job_conf_id?: number;
  @Param.ids({ description: 'Only jobs of these configurations, in addition to job_conf_id' }) job_conf_ids?: number[];
  @Param.someOf(RUN_STATUSES, { description: 'Only jobs with one of these statuses' }) job_status?: string[];
  @Param.someOf(SPARK_JOB_TYPES, { description: 'Only jobs of these types' }) job_type?: string[];
  @Param.someOf(JOB_LANGUAGE_FILTERS, { description: 'Only jobs in these languages' }) job_type_langs?: string[];
  @Param.ids() created_by_ids?: number[];
  @Param.ids() modified_by_ids?: number[];
}

export class JobLogQuery {
  @Param.int32({ min: 1, max: 1000, description: 'Returns only the last lines, up to this number' })
  last_n_lines?: number;
  @Param.int64({ min: 1, description: 'Returns only the first bytes, up to this number' }) file_size_bytes?: number;
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

const SEARCH_DIRECTIONS = nameEnum('SearchDirection', ['forward', 'backward'], 'Direction of a search in a log.');

export class LogSearchQuery {
  @Field.text({
    minLength: 1,
    maxLength: 200,
    description: 'Text to find: not a pattern, ignoring case',
  })
  text: string;
  @Param.oneOf(SEARCH_DIRECTIONS, { description: 'backward finds the last lines first; forward if it is absent' })
  direction?: 'forward' | 'backward';
  @Param.int64({
    min: 0,
    description:
      'Byte offset of a line at which the search begins, or before which a backward search begins. To continue, send next_offset of the last response',
  })
  offset?: number;
  @Param.int32({ min: 1, max: 1000, default: 100, description: 'Maximum number of lines to return' })
  limit: number = 100;
}

@About('A line of a log that contains the text.')
export class LogMatchRead {
  @Field.int64({ description: 'Byte offset of the line in the log' }) offset: number;
  @Field.text({ description: 'The line, without colour codes; of a long line, the part that contains the text' })
  line: string;
}

@About('Lines of a log that contain the text, in the order of the search.')
export class LogSearchResult {
  @Field.objects(() => LogMatchRead, { description: 'The matches, at most `limit`' }) matches: LogMatchRead[];
  @Field.int64({
    nullable: true,
    description: 'Offset at which the next search continues; null if the log was searched to its end',
  })
  next_offset: number | null;
  @Field.int64({ description: 'Size of the log in bytes when it was searched' }) size_bytes: number;
}

@About('The new job. Ids are decimal strings.')
export class JobCreated extends WriteAudit {
  @Field.idText() job_id: string;
  @Field.idText() job_conf_id: string;
  @Field.idText({ description: 'Id of the cluster on which the job runs' }) cluster_id: string;
  @Field.idText() workspace_id: string;
  @Field.oneOf(RUN_STATUSES, { description: 'Status of the new job: always SUBMITTED' }) job_status: string;
  @Field.text({
    nullable: true,
    description: 'Arguments that the request gave for this run only; null if it gave none',
  })
  arguments: string | null;
  @Field.texts({
    nullable: true,
    description: 'Spark properties that the request gave for this run only; null if it gave none',
  })
  conf: string[] | null;
  @Field.uuid() tenant_id: string;
}

@About('State of the workflow of a run, which is derived from the status of the run.')
export class JobWorkflowStatus {
  @Field.id() workflow_job_instance_id: number;
  @Field.id() workflow_job_id: number;
  @Field.text({
    description:
      'EXECUTING until the run has ended; then DONE, ERROR, or TERMINATED for a run that was stopped or ended by the platform',
  })
  status: string;
  @Field.timestamp({ description: 'When the run was submitted' }) from_date: Date;
  @Field.text({ description: 'When the run ended, in ISO 8601; `infinity` until then' }) to_date: Date | string;
}

@About('The workflow of a run.')
export class JobWorkflow {
  @Field.object(() => JobWorkflowStatus, { description: 'State of the workflow' })
  workflow_job_instance_status: JobWorkflowStatus;
}

@About('State of the workflow of a run, with its earlier states.')
export class JobWorkflowStates extends JobWorkflowStatus {
  @Field.texts({ description: 'Earlier states of the workflow, oldest first' })
  previous_status: string[];
}

@About('The workflow of a run, with its earlier states.')
export class JobWorkflowWithStates {
  @Field.object(() => JobWorkflowStates, { description: 'State of the workflow' })
  workflow_job_instance_status: JobWorkflowStates;
}

@About("A job, found by Spark's application id, with the states of its workflow.")
export class JobWorkflowDetails extends ReadAudit {
  @Field.id() job_id: number;
  @Field.text({ description: "Spark's application id" }) job_application_id: string;
  @Field.oneOf(RUN_STATUSES, {
    description:
      'Status of the job: SUBMITTED and RUNNING, then STOPPING and KILLING while it is being stopped; DONE, ERROR, TERMINATED, STOPPED and KILLED are final',
  })
  job_status: string;
  @Field.id() cluster_id: number;
  @Field.object(() => JobWorkflowWithStates, { description: 'The workflow of the job' })
  workflow_job_instance_details: JobWorkflowWithStates;
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
    description:
      'Why the run started cold: with a driver of its own instead of a waiting one; null if it started warm, or if that is not known',
    example: 'No driver was ready.',
  })
  cold_reason: string | null;
}

@About('A job: one run of a job configuration on its cluster.')
export class JobRead extends RunRead {
  @Field.id() job_id: number;
  @Field.text({ nullable: true, description: "Spark's application id; null until the application has started" })
  job_application_id: string | null;
  @Field.oneOf(RUN_STATUSES, {
    description:
      'Status of the job: SUBMITTED and RUNNING, then STOPPING and KILLING while it is being stopped; DONE, ERROR, TERMINATED, STOPPED and KILLED are final',
  })
  job_status: string;
  @Field.id({ description: 'Id of the cluster on which the job runs' }) cluster_id: number;
  @Field.object(() => JobClusterInfo, { description: 'The cluster on which the job runs' })
  cluster_info: JobClusterInfo;
  @Field.id() workspace_id: number;
  @Field.object(() => JobConfSummary, {
    description: 'The configuration as it was when the job was submitted; later changes do not reach the job',
  })
  job_conf: JobConfSummary;
  @Field.text({
    nullable: true,
    description: 'Arguments that were given for this run only; null if those of the configuration apply',
  })
  arguments: string | null;
  @Field.texts({
    nullable: true,
    description: 'Spark properties that were given for this run only; null if there are none',
  })
  conf: string[] | null;
  @Field.int32({
    nullable: true,
    description: 'Exit code of spark-submit; null until it has ended, and if it had none',
  })
  exit_code: number | null;
  @Field.oneOf(REASON_CODES, { nullable: true, description: 'Why the run ended; null until it has ended' })
  reason_code: string | null;
  @Field.text({ nullable: true, description: 'Why the run ended, in plain words; null until it has ended' })
  reason: string | null;
  @Field.object(() => JobWorkflow, { nullable: true, description: 'The workflow of the job; null if it has none' })
  workflow_job_instance_details: JobWorkflow | null;
  @Field.uuid() tenant_id: string;
}

@About('One status that the job has or had.')
export class JobStatusEntry {
  @Field.oneOf(RUN_STATUSES, { description: 'The status' }) job_status: string;
  @Field.text({ nullable: true, description: 'Why the job entered the status; null if there is nothing to say' })
  reason: string | null;
  @Field.text({
    nullable: true,
    description:
      'Name of the user who submitted or stopped the job; null if the platform or the node caused the status',
  })
  created_by: string | null;
  @Field.oneOf(RUN_STEPS, {
    nullable: true,
    description: 'What happened; null if an earlier release recorded the status',
  })
  step: string | null;
  @Field.text({
    nullable: true,
    description: 'What to do about the end of the job; null for any other status, and if there is nothing to do',
  })
  remedy: string | null;
  @Field.timestamp({ description: 'When the job entered the status' }) from_date: Date;
  @Field.text({ description: 'When the job left the status, in ISO 8601; `infinity` for the current one' }) to_date:
    | Date
    | string;
}

@About('Every status that a job has had.')
export class JobStatusHistory {
  @Field.id() job_id: number;
  @Field.text({ nullable: true, description: "Spark's application id; null until the application has started" })
  job_application_id: string | null;
  @Field.oneOf(RUN_STATUSES, { description: 'Status of the job now' }) job_status: string;
  @Field.objects(() => JobStatusEntry, { description: 'Every status, oldest first' }) status_history: JobStatusEntry[];
}

@About('The job that is being stopped, with its workflow.')
export class JobKillDetails {
  @Field.id() workflow_job_id: number;
  @Field.id() workflow_job_instance_id: number;
  @Field.id({ description: 'The job_id' }) spark_job_instance_id: number;
  @Field.id({ description: 'The job_conf_id' }) spark_job_id: number;
  @Field.id() engine_cluster_instance_id: number;
}

@About('The job that is being stopped.')
export class JobKill {
  @Field.object(() => JobKillDetails, { description: 'The job that is being stopped' }) SparkKill: JobKillDetails;
}

@About('The workflow that stops the jobs of a cluster.')
export class CosiKillAllJobs {
  @Field.id() workflow_job_id: number;
  @Field.id() workflow_job_instance_id: number;
  @Field.id() engine_cluster_instance_id: number;
  @Field.id({ description: 'The user who requested it' }) created_by_user_id: number;
}

@About('The workflow that stops the jobs of the cluster, under its name in the contract.')
export class CosiKillAllJobsResult {
  @Field.object(() => CosiKillAllJobs, { description: 'The workflow that stops the jobs' })
  CosiKillAllJobsByCluster: CosiKillAllJobs;
}

@About('Number of jobs and notebook instances by status.')
export class JobStats {
  @Field.int64({ description: 'Runs that wait for a free slot or for their start' }) SUBMITTED: number;
  @Field.int64({ description: 'Runs that are running' }) RUNNING: number;
  @Field.int64({ description: 'Runs that ended by themselves without an error' }) DONE: number;
  @Field.int64({ description: 'Runs that failed' }) ERROR: number;
  @Field.int64({
    description: 'Runs that something other than a request to stop ended, such as a timeout or the loss of a node',
  })
  TERMINATED: number;
  @Field.int64({ description: 'Runs that are being stopped' }) STOPPING: number;
  @Field.int64({ description: 'Runs that ended because somebody stopped them' }) STOPPED: number;
  @Field.int64({ description: 'Runs of every status, KILLING and KILLED included' }) TOTAL_JOB_COUNT: number;
}

@About('Why a run failed.')
export class WorkflowErrorRead {
  @Field.id({ description: 'Id of the error' }) workflow_error_id: number;
  @Field.id() workflow_job_instance_id: number;
  @Field.text({ description: 'Why the run failed, in plain words' }) error: string;
  @Field.timestamp({ description: 'When the run ended' }) from_date: Date;
  @Field.validityEnd({ description: 'Always `infinity`, because the error stays; null means the same' }) to_date:
    | Date
    | 'infinity'
    | null;
}
