import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { ComputeDriver } from '../../../../libs/compute-drivers/compute-driver';
import { Config } from '../../../config/config';
import { LOGGER, type Logger } from '../../../platform/logging/logger';
import { Reconciler } from '../../../platform/workflows/reconciler';
import { Repairs } from '../../../platform/workflows/repairs';
import { ClusterLifecycle } from '../cluster-lifecycle';
import { ClusterNodesRepository, type SilentNode } from '../cluster-nodes.repository';
import { ClusterFactsReader } from './cluster-facts';
import { Drivers } from './drivers';
import type { ClusterNode } from '../entities/cluster-node.entity';

/** A node silent for this long is looked at, long before it counts as lost; milliseconds. */
const LOOK_AFTER_MS = 35_000;
/**
 * Of that, the platform must have answered at least this long: after an outage of its own, agents have this long to
 * come back; milliseconds.
 */
const COME_BACK_MS = 10_000;
/** Seconds in which the platform answered that are kept beyond those counted. */
const SPARE_SECONDS = 60;

/** Repairs at the providers what no workflow is responsible for: silent and lost nodes, orphans. */
@Injectable()
export class ClusterReconciler extends Reconciler {
  readonly name = 'clusters';
  readonly everyMs = this.config.worker.reconcileMs;
  readonly deadlineMs = 120_000;

  constructor(
    private readonly dataSource: DataSource,
    private readonly nodes: ClusterNodesRepository,
    private readonly lifecycle: ClusterLifecycle,
    private readonly facts: ClusterFactsReader,
    private readonly drivers: Drivers,
    private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
  }

  async reconcile(signal: AbortSignal): Promise<void> {
    const repairs = new Repairs(signal);
    await repairs.attempt('Silent nodes', () => this.lookAtSilent(repairs, signal));
    for (const driver of this.drivers.all())
      await repairs.attempt('Machines that no cluster owns', () => this.destroyOrphans(driver, repairs, signal));
    repairs.finish();
  }

  private async lookAtSilent(repairs: Repairs, signal: AbortSignal): Promise<void> {
    const { leaseMs, leaseMarginMs } = this.config.agent;
    const ms = Math.min(LOOK_AFTER_MS, leaseMs / 2);
    const answeredSeconds = Math.ceil(Math.min(COME_BACK_MS, ms) / 1000);
    const lostAfterSeconds = Math.ceil((leaseMs + leaseMarginMs) / 1000);
    for (const node of await this.nodes.silent({ ms, answeredSeconds, lostAfterSeconds })) {
      await repairs.attempt(`Node ${node.node_id}`, () => this.reviveOrLose(node, signal));
    }
    await this.nodes.forgetAnswered(lostAfterSeconds + SPARE_SECONDS);
  }

  /** Asks the provider about a node that seems to be down, and starts it again or calls it lost. */
  async reviveOrLose(node: SilentNode, signal: AbortSignal): Promise<void> {
    const facts = await this.facts.read(node.cluster_id);
    if (!this.drivers.serves(facts.cloudProviderId, facts.endpoint)) return;
    const caller = { correlationId: `reconcile-node-${node.node_id}`, signal };
    const describe = () => this.facts.withDriver(facts, caller, (driver, call) => driver.describe([node.token], call));
    // A lost node is lost whether or not its provider answers.
    const [machine] = node.is_lost ? await describe().catch(() => []) : await describe();
    if (machine?.state === 'gone') await this.lose(node, 'its machine has disappeared at the provider');
    else if (node.is_lost) await this.lose(node, 'its agent does not answer');
    else if (machine?.state === 'stopped' || machine?.state === 'failed') {
      const { state } = machine;
      this.logger.warn({ node_id: node.node_id, state }, 'A node went down by itself; starting it again');
      await this.facts.withDriver(facts, caller, async (driver, call) => {
        // A stop that has begun meanwhile must not be undone.
        if (state === 'failed') await driver.revive(node.token, call);
        else await driver.start(node.token, call);
      });
    }
  }

  /** Nothing works for the node any more, or its lease has passed, so that its agent has ended its runs. */
  private async lose(silent: ClusterNode, why: string): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      const cluster = await this.lifecycle.lock(tx, silent.cluster_id);
      const node = await this.nodes.get(silent.node_id, tx, true);
      if (!cluster || !node || node.status !== 'RUNNING') return;
      const reason = `Node ${node.node_number} is lost: ${why}.`;
      await this.lifecycle.transitionNode(tx, node, { to: 'ERROR', reason, userId: null, workflowInstanceId: null });
      if (cluster.status === 'RUNNING') {
        await this.lifecycle.transition(tx, cluster, { to: 'ERROR', reason, userId: null, workflowInstanceId: null });
      }
      this.logger.error({ node_id: node.node_id, cluster_id: cluster.cluster_id, reason }, 'A node is lost');
    });
  }

  /** Machines with our labels that no live node owns, such as those of a start whose worker never came back. */
  private async destroyOrphans(driver: ComputeDriver, repairs: Repairs, signal: AbortSignal): Promise<void> {
    const call = { endpoint: null, credentials: {}, correlationId: 'reconcile-orphans', signal };
    const owned = await driver.listOwned(call);
    if (owned.length === 0) return;
    const known = await this.nodes.liveAmong(owned.map((machine) => machine.labels.nodeToken));
    for (const { labels } of owned) {
      if (known.has(labels.nodeToken)) continue;
      await repairs.attempt(`Machine ${labels.nodeToken}, which no cluster owns`, async () => {
        await driver.destroy(labels.nodeToken, call);
        this.logger.warn({ labels }, 'Destroyed a machine that no cluster owns');
      });
    }
  }
}
