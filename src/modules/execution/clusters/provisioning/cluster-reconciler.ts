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
import { NOW, inTransaction } from '../../../../platform/kernel/persistence/sql';
import { Reconciler } from '../../../../platform/background/workflows/reconciler';
import type { Ask } from '../../../../platform/background/workflows/work-questions';
import { FailureCollector } from '../../../../platform/background/workflows/failure-collector';
import { ClusterLifecycle } from '../lifecycle/cluster-lifecycle';
import { ClusterNodesRepository, type SilentNode } from '../model/cluster-nodes.repository';
import { silenceLimits } from '../model/silence';
import { type ClusterSnapshot, ClusterSnapshots, nodeRef } from './cluster-snapshot';
import { Drivers } from './drivers';
import type { ClusterNode } from '../model/entities/cluster-node.entity';

/** Answered seconds that are kept beyond the counted ones. */
const EXTRA_ANSWERED_SECONDS = 60;
/** Only every sixth pass looks for machines without an owner, which must be old anyway. Half a pass is for inexact timers. */
const PASSES_BETWEEN_SWEEPS = 5.5;
/** Minimum age of a machine without an owner before it is destroyed, milliseconds. */
const MIN_ORPHAN_AGE_MS = 60_000;

/** The only place of a driver that reaches all of its nodes without credentials. */
const ON_SITE: Place = {
  ...{ account: null, region: null, zone: null, networkAccount: null, network: null, subnet: null },
  ...{ networkTags: [], networkCard: null, hosts: [] },
};

/** Repairs what no workflow is responsible for: silent nodes, lost nodes and orphaned machines. */
@Injectable()
export class ClusterReconciler extends Reconciler {
  readonly name = 'clusters';
  readonly intervalMs = this.config.worker.reconcileMs;
  readonly deadlineMs = 120_000;
  private readonly silence = silenceLimits(this.config.agent);
  /** Beginning of the last sweep that succeeded, by the monotonic clock. */
  private sweptAt = -Infinity;

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

  override hasWork(ask: Ask): Promise<boolean> {
    if (this.isSweepDue()) return Promise.resolve(true);
    return ask((params) => this.nodes.hasSilent(params, this.silence));
  }

  async reconcile(signal: AbortSignal): Promise<void> {
    const failures = new FailureCollector(signal);
    const sweptAt = this.isSweepDue() ? performance.now() : null;
    await failures.attempt('Silent nodes', () => this.checkSilentNodes(failures, signal));
    if (sweptAt !== null) await this.sweep(failures, signal);
    failures.throwFailures();
    this.sweptAt = sweptAt ?? this.sweptAt;
  }

  private isSweepDue(): boolean {
    return performance.now() - this.sweptAt >= PASSES_BETWEEN_SWEEPS * this.intervalMs;
  }

  private async checkSilentNodes(failures: FailureCollector, signal: AbortSignal): Promise<void> {
    for (const node of await this.nodes.findSilent(this.silence))
      await failures.attempt(`Node ${node.node_id}`, () => this.restartOrMarkLost(node, signal));
  }

  private async sweep(failures: FailureCollector, signal: AbortSignal): Promise<void> {
    const kept = this.silence.lostAfterSeconds + EXTRA_ANSWERED_SECONDS;
    await failures.attempt('Answered seconds', () => this.nodes.deleteAnsweredSeconds(kept));
    for (const driver of await this.drivers.withoutCredentials())
      await failures.attempt('Machines that no cluster owns', () => this.destroyOrphans(driver, failures, signal));
  }

  /** Asks the provider about a node that seems to be down, and restarts it or marks it lost. */
  async restartOrMarkLost(node: SilentNode, signal: AbortSignal): Promise<void> {
    const snapshot = await this.snapshots.read(node.cluster_id);
    if (!node.is_lost && !this.drivers.serves(snapshot.cloudProviderId, snapshot.endpoint)) return;
    const caller = { correlationId: `reconcile-node-${node.node_id}`, signal };
    const ref = nodeRef(snapshot, node);
    const [machine] = await this.snapshots
      .withDriver(snapshot, caller, (driver, call) => driver.describe([ref], call))
      .catch((error: unknown) => {
        // A lost node is lost even if its provider does not respond. Another worker's node can be judged by its silence only.
        if (node.is_lost || error instanceof ElsewhereError) return [];
        throw error;
      });
    // The agent has sent heartbeats before, so its machine did exist.
    if (machine?.state === 'gone') await this.markLost(node, 'its machine has disappeared at the provider');
    else if (machine?.state === 'interrupted')
      await this.markLost(node, 'the provider has taken its spot machine back', machine.fault?.message ?? 'no detail');
    else if (node.is_lost) await this.markLost(node, 'its agent has stopped sending heartbeats');
    else if (machine?.state === 'stopped' || machine?.state === 'failed')
      await this.restart(node, machine, snapshot, caller);
  }

  private async restart(
    node: SilentNode,
    { state, fault }: ProviderNode,
    snapshot: ClusterSnapshot,
    caller: { correlationId: string; signal: AbortSignal },
  ): Promise<void> {
    // A stop that has begun meanwhile must not be undone. It marks the node before the machine goes down.
    if ((await this.nodes.runningAmong([node.token])).length === 0) return;
    const details = { node_id: node.node_id, state, fault: fault?.message ?? null };
    this.logger.warn(details, 'A node went down by itself; starting it again');
    const ref = nodeRef(snapshot, node);
    const refusal = await this.snapshots.withDriver(snapshot, caller, async (driver, call) => {
      try {
        if (state === 'failed' && driver.onSite) await driver.onSite.revive(ref, call);
        else await driver.start(ref, call);
        return null;
      } catch (error) {
        // A permanent refusal, such as a replaced Spark, must end the retries. They would hide it until the lease expires.
        if (driver.onSite && error instanceof ComputeDriverError && error.kind === 'invalid') return error.message;
        throw error;
      }
    });
    if (refusal !== null) await this.markLost(node, `it cannot be started again: ${refusal}`);
  }

  /** Marks a node lost whose machine is gone, or whose lease has expired, so that its agent has ended its runs. */
  private async markLost(silent: ClusterNode, why: string, interruption: string | null = null): Promise<void> {
    await inTransaction(this.dataSource, async (tx) => {
      const cluster = await this.lifecycle.lock(tx, silent.cluster_id);
      const node = await this.nodes.get(silent.node_id, tx, true);
      if (!cluster || !node || node.status !== 'RUNNING') return;
      // The runs of the node end with this reason, even if its agent received no notice.
      if (interruption !== null && node.interrupted_at === null)
        await this.nodes.update(tx, node.node_id, { interrupted_at: NOW, interruption, draining: true });
      const reason = await this.lifecycle.markNodeLost(tx, cluster, node, why);
      this.logger.error({ node_id: node.node_id, cluster_id: cluster.cluster_id, reason }, 'A node is lost');
    });
  }

  /**
   * Destroys machines of this installation that no live node owns, such as those of a start whose worker died. This is safe
   * because a node is recorded before its machine is requested, and drivers check for live nodes after they list machines.
   */
  private async destroyOrphans(driver: ComputeDriver, failures: FailureCollector, signal: AbortSignal): Promise<void> {
    const call = { endpoint: null, credentials: {}, correlationId: 'reconcile-orphans', signal };
    const age = Math.min(MIN_ORPHAN_AGE_MS, this.config.agent.leaseMs / 2);
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
