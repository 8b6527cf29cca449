import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Market } from '../../../../../libs/compute-drivers/compute-driver';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { agentTokenHash, BootstrapTokens } from '../nodes/bootstrap-tokens';
import { ClusterLifecycle } from '../lifecycle/cluster-lifecycle';
import { ClusterNodesRepository } from '../model/cluster-nodes.repository';
import { ClusterSecretsService } from '../lifecycle/cluster-secrets.service';
import { listScopeOf } from '../model/compute-support';
import { MachinePlacesRepository } from './machine-places.repository';
import type { PlannedNode } from '../model/node-plan';
import type { ClusterSnapshot } from './cluster-snapshot';

/** The cause and the market of planned nodes. */
interface Plan {
  reason: string;
  userId: number | null;
  workflowInstanceId: number;
  registrationTimeoutMs: number;
  market: Market;
  replacement: boolean;
}

/** Records nodes before their machines are requested, so that every machine has an owner. */
@Injectable()
export class NodePlanner {
  constructor(
    private readonly nodes: ClusterNodesRepository,
    private readonly places: MachinePlacesRepository,
    private readonly lifecycle: ClusterLifecycle,
    private readonly secrets: ClusterSecretsService,
    private readonly bootstrapTokens: BootstrapTokens,
  ) {}

  async plan(tx: Tx, snapshot: ClusterSnapshot, planned: readonly PlannedNode[], plan: Plan): Promise<void> {
    const { reason, userId, workflowInstanceId } = plan;
    const machine_place_id = planned.length > 0 ? await this.watchPlace(tx, snapshot) : null;
    for (const { nodeNumber, role } of planned) {
      const identity = { token: randomUUID(), attempt: 1 };
      const node = {
        ...identity,
        tenant_id: snapshot.tenantId,
        cluster_id: snapshot.clusterId,
        node_number: nodeNumber,
        role,
        place: snapshot.place,
        machine_place_id,
        cores: snapshot.machine.cores,
        memory_mb: snapshot.machine.memoryMb,
        machine_type_id: snapshot.machineTypeId,
        machine_price_ycu: snapshot.machinePriceYcu,
        is_spot: plan.market === 'spot',
        labels: snapshot.labels,
        replacement: plan.replacement,
        bootstrap_token_hash: agentTokenHash(this.bootstrapTokens.create(identity)),
      };
      await this.lifecycle.planNode(tx, node, { reason, userId, workflowInstanceId });
    }
    await this.nodes.renewBootstrapTokens(tx, snapshot.clusterId, plan.registrationTimeoutMs);
    await this.secrets.ensure(tx, snapshot.tenantId, snapshot.clusterId);
  }

  /** Records place and credentials of the machines, so that they can be found even after the cluster is gone. */
  private async watchPlace(tx: Tx, snapshot: ClusterSnapshot): Promise<number | null> {
    const { tenantId, credentialsConfId, cloudProviderId, endpoint, place } = snapshot;
    const scope = listScopeOf(cloudProviderId, endpoint);
    if (scope === null) return null;
    return this.places.watch(tx, {
      tenant_id: tenantId,
      credentials_conf_id: credentialsConfId,
      cloud_provider_id: cloudProviderId,
      endpoint: endpoint ?? '',
      account: (scope.includes('account') && place.account) || '',
      region: (scope.includes('region') && place.region) || '',
    });
  }
}
