import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import type { Page, PageRequest } from '../../../../platform/kernel/dto/page';
import { pagedRows } from '../../../../platform/kernel/persistence/paged-rows';
import { Conditions } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import { NOTEBOOK, type RunConfiguration, type RunConfigurationRow } from '../../runs';
import { workspacesSharedWith } from '../../workspaces';

export interface NotebooksOfWorkspaces extends TenantScope {
  /** True for a caller who may see every workspace of the tenant. */
  everyone: boolean;
  /** Null for all workspaces that the caller may see. */
  workspaceId: number | null;
}

export type NotebookListRow = Pick<
  RunConfigurationRow,
  | 'job_conf_id'
  | 'name'
  | 'language'
  | 'workspace_id'
  | 'cluster_id'
  | 'cluster_name'
  | 'last_run_id'
  | 'last_run_status'
  | 'modified_by_user_id'
  | 'modified_by_name'
  | 'last_update_date'
> & { workspace_name: string };

const COLUMNS = `t.job_conf_id, t.name, t.language, t.workspace_id, t.cluster_id, t.modified_by_user_id, t.last_update_date,
  w.name AS workspace_name, c.name AS cluster_name, u.username AS modified_by_name, last.run_id AS last_run_id,
  last.status AS last_run_status`;

const JOINS = `JOIN workspaces w ON w.workspace_id = t.workspace_id JOIN clusters c ON c.cluster_id = t.cluster_id
  LEFT JOIN users u ON u.user_id = t.modified_by_user_id
  LEFT JOIN LATERAL (SELECT r.run_id, r.status FROM runs r WHERE r.job_conf_id = t.job_conf_id
    ORDER BY r.run_id DESC LIMIT 1) last ON TRUE`;

/** Lists notebooks across workspaces. */
@Injectable()
export class NotebookListsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns enabled notebooks, the newest first. */
  page(
    { tenantId, userId, everyone, workspaceId }: NotebooksOfWorkspaces,
    partOfName: string | undefined,
    page: PageRequest,
  ): Promise<Page<NotebookListRow>> {
    const conditions = new Conditions<RunConfiguration>()
      .add(ofTenant('t'), tenantId)
      .only('kind', NOTEBOOK.resource)
      .onlyEnabled(true)
      .add('t.deleted_at IS NULL')
      .only('workspace_id', workspaceId ?? undefined);
    if (!everyone && workspaceId === null) {
      conditions.add(
        `t.workspace_id IN (${workspacesSharedWith('?::bigint', '?')})`,
        userId,
        tenantId,
        userId,
        tenantId,
      );
    }
    if (partOfName !== undefined) conditions.addContains('t.name', partOfName);
    const select = { table: 'job_confs', key: 'job_conf_id', columns: COLUMNS, joins: JOINS };
    return pagedRows(this.dataSource.manager, { ...select, conditions, order: 't.job_conf_id DESC' }, page);
  }
}
