import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Market } from '../../../../../libs/compute-drivers/compute-driver';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { agentTokenHash, BootstrapTokens } from '../bootstrap-tokens';
import { ClusterLifecycle } from '../cluster-lifecycle';
import { ClusterNodesRepository } from '../cluster-nodes.repository';
import { ClusterSecretsService } from '../cluster-secrets.service';
import { shownTogetherBy } from '../compute-support';
import { MachinePlacesRepository } from '../machine-places.repository';
import type { PlannedNode } from '../node-plan';
import type { ClusterFacts } from './cluster-facts';

/** Why nodes are planned, and how. */
interface Plan {
  reason: string;
  userId: number | null;
  workflowInstanceId: number;
  /** How long their agents may take to register, milliseconds. */
  registerWithinMs: number;
  market: Market;
  /** Whether they take the place of lost ones. */
  replacement: boolean;
}

/** Writes down nodes that are to be made, before anything of them is: what is made is always somebody's. */
@Injectable()
export class NodePlanner {
  constructor(
    private readonly nodes: ClusterNodesRepository,
    private readonly places: MachinePlacesRepository,
    private readonly lifecycle: ClusterLifecycle,
    private readonly secrets: ClusterSecretsService,
    private readonly bootstrapTokens: BootstrapTokens,
  ) {}

  /** Plans nodes of a locked cluster, whose environment and machine type are as in the facts. */
  async plan(tx: Tx, facts: ClusterFacts, planned: readonly PlannedNode[], plan: Plan): Promise<void> {
    const { reason, userId, workflowInstanceId } = plan;
    const machine_place_id = planned.length > 0 ? await this.holdPlace(tx, facts) : null;
    for (const { nodeNumber, role } of planned) {
      const identity = { token: randomUUID(), attempt: 1 };
      const node = {
        ...identity,
        tenant_id: facts.tenantId,
        cluster_id: facts.clusterId,
        node_number: nodeNumber,
        role,
        place: facts.place,
        machine_place_id,
        cores: facts.machine.cores,
        memory_mb: facts.machine.memoryMb,
        machine_type_id: facts.machineTypeId,
        machine_price_ycu: facts.machinePriceYcu,
        is_spot: plan.market === 'spot',
        labels: facts.labels,
        replacement: plan.replacement,
        bootstrap_token_hash: agentTokenHash(this.bootstrapTokens.make(identity)),
      };
      await this.lifecycle.planNode(tx, node, { reason, userId, workflowInstanceId });
    }
    await this.nodes.renewBootstrapTokens(tx, facts.clusterId, plan.registerWithinMs);
    await this.secrets.ensure(tx, facts.tenantId, facts.clusterId);
  }

  /** Notes where machines will be, and as whom they are asked for: whatever becomes of the cluster, they can be found. */
  private async holdPlace(tx: Tx, facts: ClusterFacts): Promise<number | null> {
    const { tenantId, credentialsConfId, cloudProviderId, endpoint, place } = facts;
    const by = shownTogetherBy(cloudProviderId, endpoint);
    if (by === null) return null;
    return this.places.hold(tx, {
      tenant_id: tenantId,
      credentials_conf_id: credentialsConfId,
      cloud_provider_id: cloudProviderId,
      endpoint: endpoint ?? '',
      account: (by.includes('account') && place.account) || '',
      region: (by.includes('region') && place.region) || '',
    });
  }
}
