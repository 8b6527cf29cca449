import { ReadAudit, WriteAudit } from '../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../platform/kernel/dto/fields';
import { PageQuery } from '../../../../platform/kernel/dto/page';
import { CLUSTER_STATUSES, ClusterSummary } from '../../clusters';
import { SPARK_JOB_TYPES } from '../../../foundation/reference-data';

export class ClusterWorkspaceSearchQuery extends PageQuery {
  @Param.text({ optional: false, description: 'Part of the name, case-insensitive' }) workspace_name: string;
}

export class WorkspaceClusterQuery extends PageQuery {
  @Param.someOf(CLUSTER_STATUSES) cluster_status?: string[];
  @Param.oneOf(SPARK_JOB_TYPES, { description: 'Only clusters whose Spark version can run such jobs' })
  job_type?: string;
  @Param.boolean({ description: 'true lists active clusters, false disabled ones; both if absent' }) enable?: boolean;
}

export class WorkspaceClusterSearchQuery extends WorkspaceClusterQuery {
  @Param.text({ optional: false, description: 'Part of the name, case-insensitive' }) cluster_name: string;
}

class AssociatedWorkspace {
  @Field.id() workspace_id: number;
  @Field.text() name: string;
  @Field.text({ nullable: true }) description: string | null;
}

export class ClusterWorkspaceRead extends ReadAudit {
  @Field.object(() => AssociatedWorkspace) workspace: AssociatedWorkspace;
  @Field.object(() => ClusterSummary) cluster_info: ClusterSummary;
  @Field.text({ optional: true, nullable: true, description: 'Address at which the cluster serves SQL, once it does' })
  thrift_url?: string | null;
}

export class ClusterWorkspaceWrite extends WriteAudit {
  @Field.idText() workspace_id: string;
  @Field.idText() cluster_id: string;
}
