import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import type { AuthorNames } from '../../../platform/kernel/dto/response-fields';
import { columnsOf } from '../../../platform/kernel/persistence/entity-table';
import {
  containsPattern,
  firstRow,
  NOW,
  returning,
  type Tx,
  updateRows,
} from '../../../platform/kernel/persistence/sql';
import { inTenant } from '../../../platform/kernel/persistence/tenant-condition';
import { type ResourceFilter, ResourceRepository } from '../../../platform/http/resources/resource-repository';
import { ClusterWorkspace } from './entities/cluster-workspace.entity';
import type { Workspace } from './entities/workspace.entity';
import { servesWorkspace } from './workspaces.joins';

export interface ClusterWorkspaceRow extends ClusterWorkspace, AuthorNames {
  workspace: Pick<Workspace, 'workspace_id' | 'name' | 'description'>;
}

/** A cluster and a workspace of one tenant. */
export type Pair = Pick<ClusterWorkspace, 'cluster_id' | 'workspace_id'>;

interface ClusterCriteria {
  partOfName?: string | undefined;
  statuses?: readonly string[] | undefined;
  enabled?: boolean | undefined;
  sparkInfraVersionIds?: readonly number[] | undefined;
}

@Injectable()
export class ClusterWorkspacesRepository extends ResourceRepository<ClusterWorkspace, ClusterWorkspaceRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: ClusterWorkspace,
      further: `jsonb_build_object('workspace_id', w.workspace_id, 'name', w.name, 'description', w.description) AS workspace`,
      joins: 'JOIN workspaces w ON w.workspace_id = t.workspace_id',
    });
  }

  async serves(tx: Tx, { cluster_id, workspace_id }: Pair): Promise<boolean> {
    const row = await firstRow<{ serves: boolean }>(
      tx,
      `SELECT ${servesWorkspace('$1::bigint', '$2::bigint')} AS serves`,
      [cluster_id, workspace_id],
    );
    return row?.serves ?? false;
  }

  /** Returns null if the two are already associated. */
  async associate(tx: Tx, scope: TenantScope, { cluster_id, workspace_id }: Pair): Promise<ClusterWorkspace | null> {
    const [row] = await returning<ClusterWorkspace>(
      tx,
      `INSERT INTO cluster_workspaces (tenant_id, cluster_id, workspace_id, created_by_user_id, modified_by_user_id)
       VALUES ($1, $2, $3, $4, $4) ON CONFLICT DO NOTHING RETURNING ${columnsOf(ClusterWorkspace).join(', ')}`,
      [scope.tenantId, cluster_id, workspace_id, scope.userId],
    );
    return row ?? null;
  }

  async dissociate(tx: Tx, scope: TenantScope, pair: Pair): Promise<boolean> {
    const change = { to_date: NOW, modified_by_user_id: scope.userId, last_update_date: NOW };
    const closed = await updateRows(tx, ClusterWorkspace, change, { ...inTenant(scope), ...pair, to_date: Infinity });
    return closed.length > 0;
  }

  ofCluster(clusterId: number, partOfName?: string): ResourceFilter<ClusterWorkspace> {
    return (conditions) =>
      conditions
        .only('cluster_id', clusterId)
        .addIf(
          partOfName !== undefined,
          'EXISTS (SELECT 1 FROM workspaces w WHERE w.workspace_id = t.workspace_id AND w.name ILIKE ?)',
          containsPattern(partOfName ?? ''),
        );
  }

  ofWorkspace(workspaceId: number, criteria: ClusterCriteria): ResourceFilter<ClusterWorkspace> {
    const { partOfName, statuses, enabled, sparkInfraVersionIds } = criteria;
    const optional: [boolean, string, unknown?][] = [
      [partOfName !== undefined, 'c.name ILIKE ?', containsPattern(partOfName ?? '')],
      [statuses !== undefined, 'c.status = ANY(?)', statuses],
      [enabled !== undefined, `(c.to_date = 'infinity') = ?`, enabled],
      [sparkInfraVersionIds !== undefined, 'c.spark_infra_version_id = ANY(?)', sparkInfraVersionIds],
    ];
    const present = optional.filter(([isGiven]) => isGiven);
    const parts = present.map(([, sql]) => sql).join(' AND ');
    return (conditions) =>
      conditions
        .only('workspace_id', workspaceId)
        .addIf(
          present.length > 0,
          `EXISTS (SELECT 1 FROM clusters c WHERE c.cluster_id = t.cluster_id AND ${parts})`,
          ...present.map(([, , value]) => value),
        );
  }
}
