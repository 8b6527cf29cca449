import { Injectable } from '@nestjs/common';
import { type DomainError, invalid } from '../../../../platform/kernel/errors/domain-error';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import type { WorkflowRef } from '../../../../platform/background/workflows/workflow-intents';
import { LOCAL_ENDPOINT, OnPremNodesService } from '../../../infrastructure/environments';
import { ClusterLifecycle } from './cluster-lifecycle';
import type { LockedCluster } from '../model/cluster-rows.repository';
import { computeDriverName, servedEnvironments } from '../model/compute-support';

@Injectable()
export class ClusterStartsService {
  constructor(
    private readonly lifecycle: ClusterLifecycle,
    private readonly onPremNodes: OnPremNodesService,
  ) {}

  /**
   * Begins the start of a locked cluster that is STOPPED; throws what {@link refusal} returns before anything is
   * written.
   */
  async begin(tx: Tx, cluster: LockedCluster, userId: number | null, reason: string): Promise<WorkflowRef> {
    const refusal = await this.refusal(tx, cluster);
    if (refusal) throw refusal;
    return this.lifecycle.beginOperation(tx, cluster, 'start', userId, reason);
  }

  /** Returns why a cluster cannot be started at present; null if it can. */
  async refusal(tx: Tx, cluster: LockedCluster): Promise<DomainError | null> {
    const { cloud_provider_id: provider, endpoint } = cluster.environment;
    if (computeDriverName(provider, endpoint) === null) {
      return invalid('CLUSTER.PROVIDER_UNSUPPORTED', `This release starts only clusters of ${servedEnvironments()}.`);
    }
    if (endpoint === LOCAL_ENDPOINT && !(await this.onPremNodes.allowsLocalNodes(tx, cluster.tenant_id))) {
      return invalid(
        'CLUSTER.LOCAL_NODES_NOT_SHARED',
        'Local nodes of this installation do not isolate the jobs of tenants, so they serve only its first tenant. ' +
          'To change that, the operator must run the worker as root, or where bubblewrap may create namespaces.',
      );
    }
    return null;
  }
}
