import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  type ComputeDriver,
  ComputeDriverError,
  ElsewhereError,
  type ProviderNode,
} from '../../../../../libs/compute-drivers/compute-driver';
import type { Place } from '../../../../../libs/compute-drivers/place';
import { Config } from '../../../../config/config';
import { Installation } from '../../../../platform/kernel/installation/installation';
import { messageOf } from '../../../../platform/kernel/errors/message-of';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import { NOW } from '../../../../platform/kernel/persistence/sql';
import { Reconciler } from '../../../../platform/background/workflows/reconciler';
import { FailureCollector } from '../../../../platform/background/workflows/failure-collector';
import { ClusterLifecycle } from '../lifecycle/cluster-lifecycle';
import { ClusterNodesRepository, type SilentNode } from '../model/cluster-nodes.repository';
import { type ClusterSnapshot, ClusterSnapshots, nodeRef } from './cluster-snapshot';
import { Drivers } from './drivers';
import type { ClusterNode } from '../model/entities/cluster-node.entity';

/** A node silent for this long is looked at, long before it counts as lost; milliseconds. */
const LOOK_AFTER_MS = 35_000;
/**
 * Of that, the platform must have answered at least this long: after an outage of its own, agents have this long to
 * come back; milliseconds.
 */
const COME_BACK_MS = 10_000;
/** Seconds in which the platform answered that are kept beyond those counted. */
const SPARE_SECONDS = 60;
/** A machine that no cluster owns is left alone for so long, milliseconds. */
const ORPHAN_AGE_MS = 60_000;

/** Of a driver that reaches all of its nodes without credentials, which is in one place only. */
const ON_SITE: Place = {
  ...{ account: null, region: null, zone: null, networkAccount: null, network: null, subnet: null },
  ...{ networkTags: [], networkCard: null, hosts: [] },
};

/** FailureCollector at the providers what no workflow is responsible for: silent and lost nodes, orphans. */
@Injectable()
export class ClusterReconciler extends Reconciler {
  readonly name = 'clusters';
  readonly intervalMs = this.config.worker.reconcileMs;
  readonly deadlineMs = 120_000;

  constructor(
    private readonly dataSource: DataSource,
    private readonly nodes: ClusterNodesRepository,
    private readonly lifecycle: ClusterLifecycle,
    private readonly snapshots: ClusterSnapshots,
    private readonly drivers: Drivers,
    private readonly config: Config,
    private readonly installation: Installation,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
  }

  async reconcile(signal: AbortSignal): Promise<void> {
    const failures = new FailureCollector(signal);
    await failures.attempt('Silent nodes', () => this.lookAtSilent(failures, signal));
    for (const driver of await this.drivers.withoutCredentials())
      await failures.attempt('Machines that no cluster owns', () => this.destroyOrphans(driver, failures, signal));
    failures.throwFailures();
  }

  private async lookAtSilent(failures: FailureCollector, signal: AbortSignal): Promise<void> {
    const { leaseMs, leaseMarginMs } = this.config.agent;
    const ms = Math.min(LOOK_AFTER_MS, leaseMs / 2);
    const answeredSeconds = Math.ceil(Math.min(COME_BACK_MS, ms) / 1000);
    const lostAfterSeconds = Math.ceil((leaseMs + leaseMarginMs) / 1000);
    for (const node of await this.nodes.silent({ ms, answeredSeconds, lostAfterSeconds })) {
      await failures.attempt(`Node ${node.node_id}`, () => this.reviveOrLose(node, signal));
    }
    await this.nodes.forgetAnswered(lostAfterSeconds + SPARE_SECONDS);
  }

  /** Asks the provider about a node that seems to be down, and starts it again or calls it lost. */
  async reviveOrLose(node: SilentNode, signal: AbortSignal): Promise<void> {
    const snapshot = await this.snapshots.read(node.cluster_id);
    if (!node.is_lost && !this.drivers.serves(snapshot.cloudProviderId, snapshot.endpoint)) return;
    const caller = { correlationId: `reconcile-node-${node.node_id}`, signal };
    const ref = nodeRef(snapshot, node);
    const [machine] = await this.snapshots
      .withDriver(snapshot, caller, (driver, call) => driver.describe([ref], call))
      .catch((error: unknown) => {
        // A lost node is lost whether or not its provider answers. Of a node elsewhere, only its silence is known.
        if (node.is_lost || error instanceof ElsewhereError) return [];
        throw error;
      });
    // Its agent has been heard before, so its machine did exist.
    if (machine?.state === 'gone') await this.lose(node, 'its machine has disappeared at the provider');
    else if (machine?.state === 'interrupted')
      await this.lose(node, 'the provider has taken its spot machine back', machine.fault?.message ?? 'no detail');
    else if (node.is_lost) await this.lose(node, 'its agent does not answer');
    else if (machine?.state === 'stopped' || machine?.state === 'failed')
      await this.restart(node, machine, snapshot, caller);
  }

  /** Starts a machine that went down by itself. */
  private async restart(
    node: SilentNode,
    { state, fault }: ProviderNode,
    snapshot: ClusterSnapshot,
    caller: { correlationId: string; signal: AbortSignal },
  ): Promise<void> {
    // A stop that has begun meanwhile must not be undone: it was announced before the machine could be seen to be down.
    if ((await this.nodes.runningAmong([node.token])).length === 0) return;
    const told = { node_id: node.node_id, state, fault: fault?.message ?? null };
    this.logger.warn(told, 'A node went down by itself; starting it again');
    const ref = nodeRef(snapshot, node);
    const never = await this.snapshots.withDriver(snapshot, caller, async (driver, call) => {
      try {
        if (state === 'failed' && driver.onSite) await driver.onSite.revive(ref, call);
        else await driver.start(ref, call);
        return null;
      } catch (error) {
        // Such as one whose Spark was replaced: it would be tried until its lease has passed, and nobody would know why.
        if (driver.onSite && error instanceof ComputeDriverError && error.kind === 'invalid') return error.message;
        throw error;
      }
    });
    if (never !== null) await this.lose(node, `it cannot be started again: ${never}`);
  }

  /** Nothing works for the node any more, or its lease has passed, so that its agent has ended its runs. */
  private async lose(silent: ClusterNode, why: string, interruption: string | null = null): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      const cluster = await this.lifecycle.lock(tx, silent.cluster_id);
      const node = await this.nodes.get(silent.node_id, tx, true);
      if (!cluster || !node || node.status !== 'RUNNING') return;
      // Its runs end for that reason, whether or not its agent had a notice.
      if (interruption !== null && node.interrupted_at === null)
        await this.nodes.update(tx, node.node_id, { interrupted_at: NOW, interruption, draining: true });
      const reason = await this.lifecycle.lose(tx, cluster, node, why);
      this.logger.error({ node_id: node.node_id, cluster_id: cluster.cluster_id, reason }, 'A node is lost');
    });
  }

  /**
   * Machines of this installation that no live node owns, such as those of a start whose worker never came back. A node is
   * recorded before its machine is asked for, and drivers ask what is live after they have listed what there is.
   */
  private async destroyOrphans(driver: ComputeDriver, failures: FailureCollector, signal: AbortSignal): Promise<void> {
    const call = { endpoint: null, credentials: {}, correlationId: 'reconcile-orphans', signal };
    const age = Math.min(ORPHAN_AGE_MS, this.config.agent.leaseMs / 2);
    const scope = {
      installationId: await this.installation.id(),
      place: ON_SITE,
      olderThan: new Date(Date.now() - age),
      liveAmong: (tokens: readonly string[]) => this.nodes.liveAmong(tokens),
    };
    const { removed, failed } = await driver.sweep(scope, call);
    for (const node_token of removed) this.logger.warn({ node_token }, 'Destroyed a machine that no cluster owns');
    for (const { nodeToken, error } of failed)
      await failures.attempt(`Machine ${nodeToken}, which no cluster owns`, () =>
        Promise.reject(new Error(messageOf(error), { cause: error })),
      );
  }
}
