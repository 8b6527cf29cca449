import { ReadAudit, WriteAudit } from '../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../platform/kernel/dto/fields';
import { About } from '../../../../platform/kernel/dto/schemas';
import { PageQuery } from '../../../../platform/kernel/dto/page';
import { CLUSTER_STATUSES, ClusterSummary } from '../../clusters';
import { SPARK_JOB_TYPES } from '../../../foundation/reference-data';

export class ClusterWorkspaceSearchQuery extends PageQuery {
  @Param.text({ optional: false, description: 'Part of the name, ignoring case' }) workspace_name: string;
}

export class WorkspaceClusterQuery extends PageQuery {
  @Param.someOf(CLUSTER_STATUSES, { description: 'Only clusters in one of these states' }) cluster_status?: string[];
  @Param.oneOf(SPARK_JOB_TYPES, { description: 'Only clusters whose Spark version can run such jobs' })
  job_type?: string;
  @Param.boolean({ description: 'true lists enabled clusters, false disabled ones; both if absent' }) enable?: boolean;
}

export class WorkspaceClusterSearchQuery extends WorkspaceClusterQuery {
  @Param.text({ optional: false, description: 'Part of the name, ignoring case' }) cluster_name: string;
}

@About('A workspace that a cluster serves.')
class AssociatedWorkspace {
  @Field.id() workspace_id: number;
  @Field.text({ description: 'Name of the workspace, unique in the tenant' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
}

@About('An association: the cluster serves the workspace.')
export class ClusterWorkspaceRead extends ReadAudit {
  @Field.object(() => AssociatedWorkspace, { description: 'The workspace' }) workspace: AssociatedWorkspace;
  @Field.object(() => ClusterSummary, { description: 'The cluster' }) cluster_info: ClusterSummary;
  @Field.text({
    optional: true,
    nullable: true,
    description: 'Address at which the cluster serves SQL; null or absent if it does not',
  })
  thrift_url?: string | null;
}

@About('The new association. Ids are decimal strings.')
export class ClusterWorkspaceWrite extends WriteAudit {
  @Field.idText() workspace_id: string;
  @Field.idText() cluster_id: string;
}
