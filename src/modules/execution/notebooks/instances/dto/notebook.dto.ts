import { WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { Example } from '../../../../../platform/kernel/dto/schemas';
import { PageQuery } from '../../../../../platform/kernel/dto/page';
import { JobClusterInfo, JobTypeRef, JobWorkflow, NOTEBOOK_LANGUAGES, RUN_STATUSES, RunRead } from '../../../runs';
import { KERNEL_STATES } from '../kernel-state';

@Example({ notebook_name: 'example-notebook' })
export class CreateNotebook {
  @Field.id({ optional: true }) notebook_conf_id?: number;
  @Field.text({ optional: true, minLength: 1 }) notebook_name?: string;
  @Field.text({
    optional: true,
    nullable: true,
    description: 'Stored with the instance',
  })
  arguments?: string | null;
  @Field.texts({
    optional: true,
    nullable: true,
    description: 'Spark properties for this instance only, each as key=value',
  })
  conf?: string[] | null;
}

export class NotebookListQuery extends PageQuery {
  @Param.ids() cluster_ids?: number[];
  @Param.ids() notebook_conf_ids?: number[];
  @Param.someOf(RUN_STATUSES) notebook_status?: string[];
  @Param.someOf(NOTEBOOK_LANGUAGES) job_type_langs?: string[];
  @Param.boolean({ description: 'true lists unfinished instances, false finished ones; both if absent' })
  isActive?: boolean;
  @Param.ids() created_by_ids?: number[];
  @Param.ids() modified_by_ids?: number[];
}

export class NotebookSearchQuery extends NotebookListQuery {
  @Param.text({ optional: false, description: 'Part of the name, case-insensitive' }) notebook_name: string;
}

export class NotebookCreated extends WriteAudit {
  @Field.idText() notebook_id: string;
  @Field.idText() notebook_conf_id: string;
  @Field.idText() cluster_id: string;
  @Field.idText() workspace_id: string;
  @Field.oneOf(RUN_STATUSES) notebook_status: string;
  @Field.text({ nullable: true }) arguments: string | null;
  @Field.texts({ nullable: true }) conf: string[] | null;
  @Field.uuid() tenant_id: string;
}

export class KernelInfo {
  @Field.uuid({ nullable: true }) kernel_id: string | null;
  @Field.text({ nullable: true }) kernel_name: string | null;
  @Field.oneOf(KERNEL_STATES, { description: 'starting, idle and busy kernels accept requests' }) kernel_status: string;
  @Field.timestamp({ nullable: true }) last_activity: Date | null;
  @Field.int32({ description: 'Number of open sockets' }) connections: number;
  @Field.text({ nullable: true, description: 'Why the kernel is dead' }) reason: string | null;
}

export class KernelStatus {
  @Field.idText() notebook_id: string;
  @Field.object(() => KernelInfo) kernel_info: KernelInfo;
}

export class KernelSocket {
  @Field.text() message: string;
  @Field.idText() notebook_id: string;
  @Field.uuid() kernel_id: string;
}

/** The configuration that an instance was started with. */
export class NotebookConfSummary {
  @Field.id() notebook_conf_id: number;
  @Field.text() notebook_name: string;
  @Field.oneOf(['python3', 'scala', 'sql']) notebook_type: string;
  @Field.object(() => JobTypeRef) spark_job_type: JobTypeRef;
  @Field.texts({ nullable: true }) conf: string[] | null;
  @Field.texts({ nullable: true }) files: string[] | null;
  @Field.texts({ nullable: true }) jars: string[] | null;
  @Field.texts({ nullable: true }) packages: string[] | null;
  @Field.text({ nullable: true }) driver_memory: string | null;
  @Field.text({ nullable: true }) executor_memory: string | null;
  @Field.int64({ nullable: true }) driver_cores: number | null;
  @Field.int64({ nullable: true }) total_executor_cores: number | null;
  @Field.int64({ nullable: true }) executor_cores: number | null;
  @Field.int64({ nullable: true }) num_executors: number | null;
}

export class NotebookRead extends RunRead {
  @Field.id() notebook_id: number;
  @Field.text({ nullable: true, description: "Spark's application id" }) notebook_application_id: string | null;
  @Field.oneOf(RUN_STATUSES) notebook_status: string;
  @Field.id() cluster_id: number;
  @Field.object(() => JobClusterInfo) cluster_info: JobClusterInfo;
  @Field.id() workspace_id: number;
  @Field.object(() => NotebookConfSummary) notebook_conf: NotebookConfSummary;
  @Field.text({ nullable: true }) arguments: string | null;
  @Field.texts({ nullable: true }) conf: string[] | null;
  @Field.object(() => KernelInfo, { nullable: true }) kernel_info: KernelInfo | null;
  @Field.text({ nullable: true, description: 'Stable code for why the instance ended' }) reason_code: string | null;
  @Field.text({ nullable: true, description: 'Why the instance ended' }) reason: string | null;
  @Field.object(() => JobWorkflow, { nullable: true }) workflow_job_instance_details: JobWorkflow | null;
  @Field.uuid() tenant_id: string;
}

export class NotebookKillDetails {
  @Field.id() workflow_job_id: number;
  @Field.id() workflow_job_instance_id: number;
  @Field.id() notebook_id: number;
  @Field.id() engine_cluster_instance_id: number;
}

export class NotebookKill {
  @Field.object(() => NotebookKillDetails) NotebookKill: NotebookKillDetails;
}
