import { Injectable } from '@nestjs/common';
import type { Page } from '../../../../platform/kernel/dto/page';
import { typeOf } from './dto/notebook-conf.dto';
import type { NotebookListAllQuery, NotebookListEntry } from './dto/notebook-list.dto';
import { type NotebookListRow, NotebookListsRepository, type NotebooksOfWorkspaces } from './notebook-lists.repository';

/** Lists of notebooks across the workspaces that the caller may see. */
@Injectable()
export class NotebookListsService {
  constructor(private readonly repository: NotebookListsRepository) {}

  async list(scope: NotebooksOfWorkspaces, query: NotebookListAllQuery): Promise<Page<NotebookListEntry>> {
    const page = await this.repository.page(scope, query.name, query);
    return { ...page, data: page.data.map(entry) };
  }
}

function entry(row: NotebookListRow): NotebookListEntry {
  return {
    notebook_conf_id: row.job_conf_id,
    notebook_name: row.name,
    notebook_type: typeOf(row.language),
    workspace: { workspace_id: row.workspace_id, name: row.workspace_name },
    cluster: { cluster_id: row.cluster_id, name: row.cluster_name },
    last_notebook_run:
      row.last_run_id === null ? null : { notebook_id: row.last_run_id, notebook_status: row.last_run_status ?? '' },
    modified_by:
      row.modified_by_user_id === null || row.modified_by_name === null
        ? null
        : { user_id: row.modified_by_user_id, username: row.modified_by_name },
    last_update_date: row.last_update_date,
  };
}
