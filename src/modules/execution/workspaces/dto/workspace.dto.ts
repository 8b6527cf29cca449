import { ReadAudit, WriteAudit } from '../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../platform/kernel/dto/schemas';
import { PageOrAllQuery, PageQuery } from '../../../../platform/kernel/dto/page';
import { RecordSelectorQuery } from '../../../../platform/kernel/dto/selector';

/** The guard admits the caller to the workspace before a handler sees this. */
export class WorkspaceSelector extends RecordSelectorQuery('workspace') {}

export class WorkspaceListQuery extends PageOrAllQuery {
  @Param.boolean({ description: 'true lists enabled workspaces, false disabled ones; both if absent' })
  enable?: boolean;
}

export class WorkspaceSearchQuery extends PageQuery {
  @Param.boolean({ description: 'true lists enabled workspaces, false disabled ones; both if absent' })
  enable?: boolean;
  @Param.text({ optional: false, description: 'Part of the name, ignoring case' }) workspace_name: string;
}

@Example({ name: 'example-workspace', description: 'Made by an example' })
@About('A shared place for the files, jobs and notebooks of a team.')
export class CreateWorkspace {
  @Field.name() name: string;
  @Field.description() description?: string | null;
}

@Example({ description: 'Changed by an example' })
@About('Changes to a workspace; at least one. Absent fields keep their values.')
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

@About('A workspace as returned by a write. Its id is a decimal string.')
export class WorkspaceWrite extends WriteAudit {
  @Field.idText() workspace_id: string;
  @Field.text({ description: 'Name of the workspace, unique in the tenant' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.uuid() tenant_id: string;
}

@About('A reference to a workspace.')
export class WorkspaceRef {
  @Field.id() workspace_id: number;
  @Field.text({ description: 'Name of the workspace, unique in the tenant' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
}
