import { Injectable } from '@nestjs/common';
import {
  managesClusters,
  type Principal,
  type TenantScope,
  type WorkspaceContext,
  type WorkspaceScope,
} from '../../../platform/kernel/auth/principal';
import { conflict, type DomainError, notFound } from '../../../platform/kernel/errors/domain-error';
import { idText, type Message, readAudit, writeAudit } from '../../../platform/kernel/dto/response-fields';
import type { Page, PageRequest } from '../../../platform/kernel/dto/page';
import type { Tx } from '../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../platform/kernel/persistence/transactions';
import { ClusterDefinitionsService, sparkVersionsFor } from '../clusters';
import { ReferenceData } from '../../foundation/reference-data';
import { type ClusterWorkspaceRow, ClusterWorkspacesRepository, type Pair } from './cluster-workspaces.repository';
import type {
  ClusterWorkspaceRead,
  ClusterWorkspaceWrite,
  WorkspaceClusterQuery,
  WorkspaceClusterSearchQuery,
} from './dto/cluster-workspace.dto';
import { sharedWith } from './workspaces.joins';
import { WorkspacesRepository } from './workspaces.repository';
import { WorkspacesService } from './workspaces.service';

/**
 * The workspaces that a cluster serves: all of its tenant until the first one is associated with it, and only
 * associated ones from then on. Runs that wait or run when this changes continue.
 */
@Injectable()
export class ClusterWorkspacesService {
  constructor(
    private readonly transactions: Transactions,
    private readonly repository: ClusterWorkspacesRepository,
    private readonly clusters: ClusterDefinitionsService,
    private readonly workspaces: WorkspacesService,
    private readonly workspaceRecords: WorkspacesRepository,
    private readonly referenceData: ReferenceData,
  ) {}

  async associate(scope: TenantScope, pair: Pair): Promise<ClusterWorkspaceWrite> {
    return this.transactions.run(async (tx) => {
      const { cluster, workspace } = await this.findBoth(tx, scope, pair);
      await this.workspaces.lockActive(tx, workspace.workspace_id);
      const row = await this.repository.associate(tx, scope, pair);
      if (!row) {
        throw conflict(
          'CLUSTER_WORKSPACE.EXISTS',
          `The cluster "${cluster.name}" is already associated with the workspace "${workspace.name}".`,
        );
      }
      return {
        workspace_id: idText(row.workspace_id),
        cluster_id: idText(row.cluster_id),
        ...writeAudit(row),
      };
    });
  }

  async dissociate(scope: TenantScope, pair: Pair): Promise<Message> {
    return this.transactions.run(async (tx) => {
      const { cluster, workspace } = await this.findBoth(tx, scope, pair);
      if (!(await this.repository.dissociate(tx, scope, pair))) {
        throw notFound(
          'CLUSTER_WORKSPACE.NOT_FOUND',
          `The cluster "${cluster.name}" is not associated with the workspace "${workspace.name}".`,
        );
      }
      return { message: `The cluster "${cluster.name}" no longer serves the workspace "${workspace.name}".` };
    });
  }

  /** Shows workspaces without a permission of the caller to cluster managers only. */
  async ofCluster(
    scope: TenantScope,
    principal: Principal,
    clusterId: number,
    page: PageRequest,
    partOfName?: string,
  ): Promise<Page<ClusterWorkspaceRead>> {
    await this.clusters.idOf(scope, { id: clusterId });
    const manages = managesClusters(principal);
    const found = await this.repository.list(scope, page, (conditions) => {
      this.repository.ofCluster(clusterId, partOfName)(conditions);
      if (!manages) sharedWith(principal.userId)(conditions);
    });
    return this.render(scope, found);
  }

  async ofWorkspace(
    scope: WorkspaceScope,
    query: WorkspaceClusterQuery | WorkspaceClusterSearchQuery,
  ): Promise<Page<ClusterWorkspaceRead>> {
    const { job_type: jobType } = query;
    const filter = this.repository.ofWorkspace(scope.workspace.workspaceId, {
      partOfName: 'cluster_name' in query ? query.cluster_name : undefined,
      statuses: query.cluster_status,
      enabled: query.enable,
      sparkInfraVersionIds: jobType === undefined ? undefined : sparkVersionsFor(jobType, this.referenceData),
    });
    return this.render(scope, await this.repository.list(scope, query, filter));
  }

  /** Throws a 409 unless the workspace may use the cluster. */
  async assertServes(tx: Tx, cluster: NamedCluster, workspace: WorkspaceContext): Promise<void> {
    const pair = { cluster_id: cluster.cluster_id, workspace_id: workspace.workspaceId };
    if (!(await this.repository.serves(tx, pair))) throw notAssociated(cluster, workspace);
  }

  private async findBoth(tx: Tx, scope: TenantScope, pair: Pair) {
    const workspace = await this.workspaceRecords.get(scope, { id: pair.workspace_id }, tx);
    return { workspace, cluster: await this.clusters.named(scope, { id: pair.cluster_id }, tx) };
  }

  private async render(scope: TenantScope, page: Page<ClusterWorkspaceRow>): Promise<Page<ClusterWorkspaceRead>> {
    const ids = [...new Set(page.data.map((row) => row.cluster_id))];
    const summaries = new Map(
      (await this.clusters.summaries(scope, ids)).map((summary) => [summary.cluster_id, summary]),
    );
    const data = page.data.flatMap((row) => {
      const summary = summaries.get(row.cluster_id);
      return summary ? [{ workspace: row.workspace, cluster_info: summary, ...readAudit(row) }] : [];
    });
    return { ...page, data };
  }
}

interface NamedCluster {
  cluster_id: number;
  name: string;
}

export function notAssociated(cluster: NamedCluster, workspace: WorkspaceContext): DomainError {
  return conflict(
    'CLUSTER.NOT_ASSOCIATED',
    `The cluster "${cluster.name}" serves only its associated workspaces, and "${workspace.name}" is not one of them. Use another cluster, or ask a cluster manager to associate the two.`,
    { cluster_id: cluster.cluster_id, workspace_id: workspace.workspaceId },
  );
}
