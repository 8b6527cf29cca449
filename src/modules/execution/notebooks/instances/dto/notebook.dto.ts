import { WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../../platform/kernel/dto/schemas';
import { PageQuery } from '../../../../../platform/kernel/dto/page';
import {
  JobClusterInfo,
  JobTypeRef,
  JobWorkflow,
  NOTEBOOK_LANGUAGES,
  REASON_CODES,
  RUN_STATUSES,
  RunRead,
} from '../../../runs';
import { NOTEBOOK_TYPES, NotebookSettingsAnswer } from '../../content/dto/notebook-conf.dto';
import { KERNEL_STATES } from '../kernel-state';

@Example({ notebook_name: 'example-notebook' })
@About('Which notebook to start.', ['notebook_conf_id', 'notebook_name'])
export class CreateNotebook {
  @Field.id({ optional: true }) notebook_conf_id?: number;
  @Field.text({ optional: true, minLength: 1, description: 'Name of the notebook configuration, instead of its id' })
  notebook_name?: string;
  @Field.text({
    optional: true,
    nullable: true,
    description: 'Text that is stored with the instance; null for none',
  })
  arguments?: string | null;
  @Field.texts({
    optional: true,
    nullable: true,
    description:
      'Spark properties for this instance only, each as key=value, which win over those of the configuration and the cluster; null for none',
  })
  conf?: string[] | null;
}

export class NotebookListQuery extends PageQuery {
  @Param.ids({ description: 'Only instances on these clusters' }) cluster_ids?: number[];
  @Param.ids({ description: 'Only instances of these notebook configurations' }) notebook_conf_ids?: number[];
  @Param.someOf(RUN_STATUSES, { description: 'Only instances with one of these statuses' }) notebook_status?: string[];
  @Param.someOf(NOTEBOOK_LANGUAGES, { description: 'Only instances in these languages' }) job_type_langs?: string[];
  @Param.boolean({ description: 'true lists unfinished instances, false finished ones; both if absent' })
  isActive?: boolean;
  @Param.ids() created_by_ids?: number[];
  @Param.ids() modified_by_ids?: number[];
}

export class NotebookSearchQuery extends NotebookListQuery {
  @Param.text({ optional: false, description: 'Part of the name, ignoring case' }) notebook_name: string;
}

@About('The new notebook instance. Ids are decimal strings.')
export class NotebookCreated extends WriteAudit {
  @Field.idText() notebook_id: string;
  @Field.idText() notebook_conf_id: string;
  @Field.idText() cluster_id: string;
  @Field.idText() workspace_id: string;
  @Field.oneOf(RUN_STATUSES, { description: 'Status of the new instance: always SUBMITTED' }) notebook_status: string;
  @Field.text({ nullable: true, description: 'Text that the request gave; null if it gave none' }) arguments:
    | string
    | null;
  @Field.texts({
    nullable: true,
    description: 'Spark properties that the request gave for this instance only; null if it gave none',
  })
  conf: string[] | null;
  @Field.uuid() tenant_id: string;
}

@About('The kernel of a notebook instance: the process that executes its cells.')
export class KernelInfo {
  @Field.uuid({ nullable: true }) kernel_id: string | null;
  @Field.text({
    nullable: true,
    description: 'Name of the kernel in Jupyter, by its language; null if there is no kernel',
  })
  kernel_name: string | null;
  @Field.oneOf(KERNEL_STATES, { description: 'starting, idle and busy kernels accept requests' }) kernel_status: string;
  @Field.timestamp({
    nullable: true,
    description: 'When the kernel last received or sent a message; null if it never did',
  })
  last_activity: Date | null;
  @Field.int32({ description: 'Number of open WebSockets' }) connections: number;
  @Field.text({ nullable: true, description: 'Why the kernel is dead; null if it is not' }) reason: string | null;
}

@About('A notebook instance with its kernel. The id is a decimal string.')
export class KernelStatus {
  @Field.idText() notebook_id: string;
  @Field.object(() => KernelInfo, { description: 'The kernel' }) kernel_info: KernelInfo;
  @Field.texts({
    description:
      'The msg_id of each request to execute that has no reply yet, in their order, at most 1,000: a busy kernel executes the first one',
  })
  unanswered: string[];
}

@About('A kernel to which a WebSocket can be opened.')
export class KernelSocket {
  @Field.text({ description: 'What was done, in one sentence' }) message: string;
  @Field.idText() notebook_id: string;
  @Field.uuid() kernel_id: string;
}

/** The configuration that an instance was started with. */
@About('The notebook configuration as it was when the instance was started.')
export class NotebookConfSummary extends NotebookSettingsAnswer {
  @Field.id() notebook_conf_id: number;
  @Field.text({ description: 'Name of the notebook when the instance was started' }) notebook_name: string;
  @Field.oneOf(NOTEBOOK_TYPES, { description: 'Language of the cells' }) notebook_type: string;
  @Field.object(() => JobTypeRef, { description: 'Type and language, as jobs have them' }) spark_job_type: JobTypeRef;
}

@About('A notebook instance: one run of a notebook configuration on its cluster, with its kernel.')
export class NotebookRead extends RunRead {
  @Field.id() notebook_id: number;
  @Field.text({ nullable: true, description: "Spark's application id; null until the application has started" })
  notebook_application_id: string | null;
  @Field.oneOf(RUN_STATUSES, {
    description:
      'Status of the instance: SUBMITTED and RUNNING, then STOPPING and KILLING while it is being stopped; DONE, ERROR, TERMINATED, STOPPED and KILLED are final',
  })
  notebook_status: string;
  @Field.id() cluster_id: number;
  @Field.object(() => JobClusterInfo, { description: 'The cluster on which the instance runs' })
  cluster_info: JobClusterInfo;
  @Field.id() workspace_id: number;
  @Field.object(() => NotebookConfSummary, {
    description: 'The configuration as it was when the instance was started; later changes do not reach the instance',
  })
  notebook_conf: NotebookConfSummary;
  @Field.text({
    nullable: true,
    description: 'Text that was given when the instance was started; null if there is none',
  })
  arguments: string | null;
  @Field.texts({
    nullable: true,
    description: 'Spark properties that were given for this instance only; null if there are none',
  })
  conf: string[] | null;
  @Field.object(() => KernelInfo, { nullable: true, description: 'The kernel; null until the instance has one' })
  kernel_info: KernelInfo | null;
  @Field.oneOf(REASON_CODES, { nullable: true, description: 'Why the instance ended; null until it has ended' })
  reason_code: string | null;
  @Field.text({ nullable: true, description: 'Why the instance ended, in plain words; null until it has ended' })
  reason: string | null;
  @Field.object(() => JobWorkflow, { nullable: true, description: 'The workflow of the instance; null if it has none' })
  workflow_job_instance_details: JobWorkflow | null;
  @Field.uuid() tenant_id: string;
}

@About('The notebook instance that is being stopped, with its workflow.')
export class NotebookKillDetails {
  @Field.id() workflow_job_id: number;
  @Field.id() workflow_job_instance_id: number;
  @Field.id() notebook_id: number;
  @Field.id() engine_cluster_instance_id: number;
}

@About('The notebook instance that is being stopped.')
export class NotebookKill {
  @Field.object(() => NotebookKillDetails, { description: 'The instance that is being stopped' })
  NotebookKill: NotebookKillDetails;
}
