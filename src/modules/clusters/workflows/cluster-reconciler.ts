import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { ComputeDriver } from '../../../../libs/compute-drivers/compute-driver';
import { Config } from '../../../config/config';
import { LOGGER, type Logger } from '../../../platform/logging/logger';
import type { Reconciler } from '../../../platform/workflows/reconcile-loop';
import { Repairs } from '../../../platform/workflows/repairs';
import { rows, type Tx } from '../../../platform/persistence/sql';
import { beginClusterOperation, lockCluster, settleRuns, transitionCluster } from '../cluster-lifecycle';
import { ClusterNodesRepository, type SilentNode } from '../cluster-nodes.repository';
import { OPERATION_DEADLINE_MS } from '../operation-deadlines';
import { ClusterFactsReader } from './cluster-facts';
import { Drivers } from './drivers';
import type { ClusterNode } from '../entities/cluster-node.entity';

/** A node silent for this long is looked at, long before it counts as lost; milliseconds. */
const LOOK_AFTER_MS = 35_000;
/** At the least of it, the platform answered: after an absence of its own, agents have so long to come back; milliseconds. */
const COME_BACK_MS = 10_000;
/** Kept of the seconds in which the platform answered, beyond those that are counted. */
const SPARE_SECONDS = 60;

/** Repairs what no workflow is responsible for: silent and lost nodes, orphans, idle clusters. */
@Injectable()
export class ClusterReconciler implements Reconciler {
  readonly name = 'clusters';

  constructor(
    private readonly dataSource: DataSource,
    private readonly nodes: ClusterNodesRepository,
    private readonly facts: ClusterFactsReader,
    private readonly drivers: Drivers,
    private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async reconcile(signal: AbortSignal): Promise<void> {
    const repairs = new Repairs(signal);
    await repairs.attempt('Silent nodes', () => this.reviveOrLose(repairs, signal));
    for (const driver of this.drivers.all())
      await repairs.attempt('Machines that no cluster owns', () => this.destroyOrphans(driver, repairs, signal));
    await repairs.attempt('Idle clusters', () => this.stopIdleClusters(repairs));
    repairs.finish();
  }

  private async reviveOrLose(repairs: Repairs, signal: AbortSignal): Promise<void> {
    const { leaseMs, leaseMarginMs } = this.config.agent;
    const ms = Math.min(LOOK_AFTER_MS, leaseMs / 2);
    const answeredSeconds = Math.ceil(Math.min(COME_BACK_MS, ms) / 1000);
    const lostAfterSeconds = Math.ceil((leaseMs + leaseMarginMs) / 1000);
    for (const node of await this.nodes.silent({ ms, answeredSeconds, lostAfterSeconds })) {
      await repairs.attempt(`Node ${node.node_id}`, () => this.reviveOrLoseNode(node, signal));
    }
    await this.nodes.forgetAnswered(lostAfterSeconds + SPARE_SECONDS);
  }

  private async reviveOrLoseNode(node: SilentNode, signal: AbortSignal): Promise<void> {
    const facts = await this.facts.read(node.cluster_id);
    if (!this.drivers.serves(facts.cloudProviderId, facts.endpoint)) return;
    const caller = { correlationId: `reconcile-node-${node.node_id}`, signal };
    const describe = () => this.facts.withDriver(facts, caller, (driver, call) => driver.describe([node.token], call));
    // What is lost is so whether or not its provider answers.
    const [machine] = node.is_lost ? await describe().catch(() => []) : await describe();
    if (machine?.state === 'gone') await this.lose(node, 'its machine has disappeared at the provider');
    else if (node.is_lost) await this.lose(node, 'its agent does not answer');
    else if (machine?.state === 'stopped' || machine?.state === 'failed') {
      this.logger.warn(
        { node_id: node.node_id, state: machine.state },
        'A node went down by itself; starting it again',
      );
      await this.facts.withDriver(facts, caller, (driver, call) => driver.start(node.token, call));
    }
  }

  /** The node's lease has passed, so its agent has ended its runs: now the platform may say so. */
  private async lose(silent: ClusterNode, why: string): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      const cluster = await lockCluster(tx, silent.cluster_id);
      const node = await this.nodes.get(silent.node_id, tx, true);
      if (!cluster || !node || node.status !== 'RUNNING') return;
      const reason = `Node ${node.node_number} is lost: ${why}.`;
      await this.nodes.transition(tx, node, { to: 'ERROR', reason, userId: null, workflowInstanceId: null });
      if (cluster.status === 'RUNNING') {
        await transitionCluster(tx, cluster, { to: 'ERROR', reason, userId: null, workflowInstanceId: null });
      }
      await settleRuns(tx, cluster.cluster_id);
      this.logger.error({ node_id: node.node_id, cluster_id: cluster.cluster_id, reason }, 'A node is lost');
    });
  }

  /** Machines with our labels that no live node owns, such as those of a start whose worker died for good. */
  private async destroyOrphans(driver: ComputeDriver, repairs: Repairs, signal: AbortSignal): Promise<void> {
    const call = { endpoint: null, credentials: {}, correlationId: 'reconcile-orphans', signal };
    const owned = await driver.listOwned(call);
    if (owned.length === 0) return;
    const live = await rows<{ token: string }>(
      this.dataSource.manager,
      `SELECT token::text FROM cluster_nodes WHERE to_date = 'infinity' AND token::text = ANY($1)`,
      [owned.map((machine) => machine.labels.nodeToken)],
    );
    const known = new Set(live.map((node) => node.token));
    for (const { labels } of owned) {
      if (known.has(labels.nodeToken)) continue;
      await repairs.attempt(`Machine ${labels.nodeToken}, which no cluster owns`, async () => {
        await driver.destroy(labels.nodeToken, call);
        this.logger.warn({ labels }, 'Destroyed a machine that no cluster owns');
      });
    }
  }

  private async stopIdleClusters(repairs: Repairs): Promise<void> {
    const idle = await rows<{ cluster_id: number }>(
      this.dataSource.manager,
      `SELECT cluster_id FROM clusters c WHERE ${IDLE} LIMIT 50`,
    );
    for (const { cluster_id } of idle) {
      await repairs.attempt(`Cluster ${cluster_id}`, () => this.stopIfIdle(cluster_id));
    }
  }

  private async stopIfIdle(clusterId: number): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      const cluster = await lockCluster(tx, clusterId);
      if (!cluster || !(await isIdle(tx, clusterId))) return;
      const reason = 'No job for longer than idle_timeout_ms';
      await beginClusterOperation(tx, cluster, 'stop', null, reason, OPERATION_DEADLINE_MS.stop);
      this.logger.info({ cluster_id: clusterId }, 'Stopping an idle cluster');
    });
  }
}

const IDLE = `c.status = 'RUNNING' AND c.last_active_at < platform_now() - c.idle_timeout_ms * interval '1 millisecond'
  AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.cluster_id = c.cluster_id AND r.ended_at IS NULL)`;

async function isIdle(tx: Tx, clusterId: number): Promise<boolean> {
  return (await rows(tx, `SELECT 1 FROM clusters c WHERE c.cluster_id = $1 AND ${IDLE}`, [clusterId])).length > 0;
}
