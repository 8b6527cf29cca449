import { ReadAudit, WriteAudit } from '../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../platform/kernel/dto/schemas';
import { PageOrAllQuery, PageQuery } from '../../../../platform/kernel/dto/page';
import { RecordSelectorQuery } from '../../../../platform/kernel/dto/selector';

/** The guard admits the caller to the workspace before a handler sees this. */
export class WorkspaceSelector extends RecordSelectorQuery('workspace') {}

export class WorkspaceListQuery extends PageOrAllQuery {
  @Param.boolean({ description: 'true lists active workspaces, false disabled ones; both if absent' }) enable?: boolean;
}

export class WorkspaceSearchQuery extends PageQuery {
  @Param.boolean({ description: 'true lists active workspaces, false disabled ones; both if absent' }) enable?: boolean;
  @Param.text({ optional: false, description: 'Part of the name, case-insensitive' }) workspace_name: string;
}

@Example({ name: 'example-workspace', description: 'Made by an example' })
@About('A shared place for the files, jobs and notebooks of a team.')
export class CreateWorkspace {
  @Field.name() name: string;
  @Field.description() description?: string | null;
}

@Example({ description: 'Changed by an example' })
@About('Changes of a workspace; at least one. Absent fields keep their values.')
export class UpdateWorkspace {
  @Field.name({ optional: true }) name?: string;
  @Field.description() description?: string | null;
}

@About('A workspace: a shared place for the files, jobs and notebooks of a team.')
export class WorkspaceRead extends ReadAudit {
  @Field.id() workspace_id: number;
  @Field.text({ description: 'Name of the workspace, unique in the tenant' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.uuid() tenant_id: string;
}

@About('A workspace after a change. Its id is a decimal text.')
export class WorkspaceWrite extends WriteAudit {
  @Field.idText() workspace_id: string;
  @Field.text({ description: 'Name of the workspace, unique in the tenant' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.uuid() tenant_id: string;
}

@About('A workspace in another record.')
export class WorkspaceRef {
  @Field.id() workspace_id: number;
  @Field.text({ description: 'Name of the workspace, unique in the tenant' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
}
