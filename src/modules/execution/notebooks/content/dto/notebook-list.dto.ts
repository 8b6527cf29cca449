import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { PageQuery } from '../../../../../platform/kernel/dto/page';
import { UserRef } from '../../../../../platform/kernel/dto/response-fields';
import { About } from '../../../../../platform/kernel/dto/schemas';
import { LastNotebookRun, NOTEBOOK_TYPES, type NotebookType } from './notebook-conf.dto';

export class NotebookListAllQuery extends PageQuery {
  @Param.id({ description: 'Only notebooks of this workspace' }) workspace_id?: number;
  @Param.text({ description: 'Only notebooks of the workspace with this name' }) workspace_name?: string;
  @Param.text({ maxLength: 256, description: 'Only notebooks whose name contains this text, ignoring case' })
  name?: string;
}

@About('The workspace of a notebook.')
export class NotebookWorkspaceRef {
  @Field.id() workspace_id: number;
  @Field.text({ description: 'Name of the workspace' }) name: string;
}

@About('The cluster of a notebook.')
export class NotebookClusterRef {
  @Field.id() cluster_id: number;
  @Field.text({ description: 'Name of the cluster' }) name: string;
}

@About('A notebook in a list over workspaces, with what a list shows of it.')
export class NotebookListEntry {
  @Field.id() notebook_conf_id: number;
  @Field.text({ description: 'Name of the notebook, unique in its workspace' }) notebook_name: string;
  @Field.oneOf(NOTEBOOK_TYPES, { description: 'Language of the cells' }) notebook_type: NotebookType;
  @Field.object(() => NotebookWorkspaceRef, { description: 'The workspace of the notebook' })
  workspace: NotebookWorkspaceRef;
  @Field.object(() => NotebookClusterRef, { description: 'The cluster on which the notebook runs' })
  cluster: NotebookClusterRef;
  @Field.object(() => LastNotebookRun, {
    nullable: true,
    description: 'The newest instance of the notebook; null if there is none',
  })
  last_notebook_run: LastNotebookRun | null;
  @Field.object(() => UserRef, {
    nullable: true,
    description: 'Who last changed the notebook, or created it; null if the platform did',
  })
  modified_by: UserRef | null;
  @Field.timestamp({ description: 'When the notebook was last changed, or created' }) last_update_date: Date;
}
