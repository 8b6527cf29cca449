import { randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AcceleratorKind, DesiredDaemons, ObservedDaemons } from '../../../../../libs/contracts/agent-protocol';
import { heapWithin } from '../../../../../libs/spark/accelerator';
import { javaHeap } from '../../../../../libs/spark/memory-text';
import { Config } from '../../../../config/config';
import { DomainError, orRefusal, unauthenticated } from '../../../../platform/kernel/errors/domain-error';
import { type Tx, inTransaction } from '../../../../platform/kernel/persistence/sql';
import { notifyAfterCommit } from '../../../../platform/kernel/notifications/after-commit';
import { wakeWorkflow } from '../../../../platform/background/workflows/workflow-intents';
import { ReferenceData } from '../../../foundation/reference-data';
import { acceleratorOf } from '../model/accelerators';
import { silenceLimits } from '../model/silence';
import { agentTokenHash as hash } from './bootstrap-tokens';
import { ClusterEvents } from '../lifecycle/cluster-events';
import { ClusterLifecycle } from '../lifecycle/cluster-lifecycle';
import { ClusterNodesRepository, type DesiredNodeRow } from '../model/cluster-nodes.repository';
import { ClusterRowsRepository, type LockedCluster, type RunSettings } from '../model/cluster-rows.repository';
import { ClusterSecretsService } from '../lifecycle/cluster-secrets.service';
import { GIVES_SLOTS } from '../model/cluster-state';
import { configuredDriverMemory, defaultDriverHeap } from '../definition/driver-memory';
import { parseEnvironment } from '../definition/environment';
import type { ClusterNode } from '../model/entities/cluster-node.entity';
import { changeOf, type NodeReport } from './node-load';

/** The desired state of a node as far as its cluster defines it, with the settings of its runs. */
export interface DesiredNode {
  node: ClusterNode;
  daemons: DesiredDaemons;
  runSettings: RunSettings;
  hasMounts: boolean;
}

/** The node agents' side of a cluster: tokens, desired state and reports. */
@Injectable()
export class ClusterNodesService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly nodes: ClusterNodesRepository,
    private readonly clusters: ClusterRowsRepository,
    private readonly lifecycle: ClusterLifecycle,
    private readonly events: ClusterEvents,
    private readonly secrets: ClusterSecretsService,
    private readonly referenceData: ReferenceData,
    private readonly config: Config,
  ) {}

  /**
   * Exchanges a node's bootstrap token for its own. The same agent may repeat that, since an answer may be lost, until it
   * has used a node token ({@link authenticate}); then the bootstrap token is spent.
   */
  async register(
    bootstrapToken: string,
    { agentId, protocolVersion }: { agentId: string; protocolVersion: number | null },
  ): Promise<{ node: ClusterNode; nodeToken: string }> {
    return inTransaction(this.dataSource, async (tx) => {
      const node = await this.findByBootstrapToken(bootstrapToken, tx, true);
      if (node.agent_id !== null && node.agent_id !== agentId)
        throw unauthenticated('The bootstrap token has already been used.');
      const nodeToken = `${node.node_id}.${randomBytes(32).toString('base64url')}`;
      await this.nodes.update(tx, node.node_id, {
        agent_id: agentId,
        protocol_version: protocolVersion,
        node_token_hash: hash(nodeToken),
        bootstrap_token: null,
      });
      await this.nodes.recordHeartbeat(node.node_id, tx);
      return { node, nodeToken };
    });
  }

  /**
   * Returns the node that waits for its agent with this bootstrap token; 401 if the token is unknown or spent. Does not
   * spend it.
   */
  authenticateBootstrap(bootstrapToken: string): Promise<ClusterNode> {
    return this.findByBootstrapToken(bootstrapToken);
  }

  /**
   * Returns the node of a token; 401 for a wrong token, 410 for a destroyed node. The first use of the token spends the
   * bootstrap token.
   */
  async authenticate(nodeToken: string): Promise<ClusterNode> {
    const id = nodeIdIn(nodeToken);
    const node = id === null ? null : await this.nodes.get(id);
    assertTokenOf(node, nodeToken);
    if (node.bootstrap_token_hash !== null) await this.nodes.spendBootstrapToken(node);
    return node;
  }

  /** Returns the node or the error for each of many tokens, without recording their use. */
  async authenticateAll(nodeTokens: readonly string[]): Promise<(ClusterNode | DomainError)[]> {
    const ids = nodeTokens.map(nodeIdIn).filter((id) => id !== null);
    const found = new Map((await this.nodes.getAll(ids)).map((node) => [node.node_id, node]));
    return nodeTokens.map((nodeToken) =>
      orRefusal(() => {
        const node = found.get(nodeIdIn(nodeToken) ?? 0) ?? null;
        assertTokenOf(node, nodeToken);
        return node;
      }),
    );
  }

  /**
   * Throws a 410 for the agent of a stopped or destroyed node: the agent exits and its supervisor does not restart it.
   */
  assertNotGone(node: ClusterNode): void {
    if (node.status === 'STOPPED' || node.status === 'DESTROYED') {
      throw gone();
    }
  }

  /** Records the protocol version of the node's agent if it has changed. */
  async recordProtocolVersion(
    { node_id, protocol_version: before }: ClusterNode,
    protocolVersion: number | null,
  ): Promise<void> {
    if (protocolVersion !== before)
      await this.nodes.update(this.dataSource.manager, node_id, { protocol_version: protocolVersion });
  }

  /** Returns the version of the node's desired state. Renews nothing. */
  async desiredVersion(nodeId: number): Promise<number> {
    return (await this.nodes.desiredVersion(nodeId)) ?? 0;
  }

  async recordHeartbeat(nodeId: number): Promise<void> {
    await this.nodes.recordHeartbeat(nodeId);
  }

  /** Records heartbeats of many agents. Returns the nodes whose row is locked, which are not recorded. */
  recordHeartbeats(nodeIds: readonly number[]): Promise<number[]> {
    return this.nodes.recordHeartbeats(nodeIds);
  }

  /**
   * Records that this process answered agents this many milliseconds ago, so that the silence of a node in those seconds is its
   * own. Returns true if a node is silent, so that each second counts.
   */
  recordAnsweredSeconds(agesMs: readonly number[]): Promise<boolean> {
    return this.nodes.recordAnsweredSeconds(agesMs, silenceLimits(this.config.agent).ms);
  }

  /** Returns the node with its desired state. Throws `NODE.GONE` if it no longer exists. */
  async desired(nodeId: number): Promise<DesiredNode> {
    const found = await this.nodes.desired(nodeId);
    if (!found) throw gone();
    const { spark_config, max_parallel_jobs, has_mounts: hasMounts } = found;
    const { object_storage_manager_id, metastore_catalog_id, is_turbo_enabled, is_cuda_enabled } = found;
    const ofCluster = { object_storage_manager_id, metastore_catalog_id, is_turbo_enabled, is_cuda_enabled };
    const runSettings = { spark_config, max_parallel_jobs, ...ofCluster };
    return { node: found, daemons: this.daemonsOf(found), runSettings, hasMounts };
  }

  private gpusOf({ machine_type_id: id }: Pick<ClusterNode, 'machine_type_id'>): number {
    return (id === null ? undefined : this.referenceData.machineType(id))?.info.gpus ?? 0;
  }

  private daemonsOf(node: DesiredNodeRow): DesiredDaemons {
    const workers = node.role === 'master-and-workers' ? (node.num_of_workers ?? 1) : node.role === 'worker' ? 1 : 0;
    const accelerator = acceleratorOf(node);
    const gpus = accelerator === 'cuda' ? this.gpusOf(node) : 0;
    const workerMemoryMb = Math.floor((node.memory_mb - 1024) / Math.max(1, workers));
    return {
      role: node.role,
      workers,
      // Workers of one node share its cores and memory.
      worker_cores: Math.max(1, Math.floor(node.cores / Math.max(1, workers))),
      // Executors request their heaps, and use the memory of the accelerator on top.
      worker_memory_mb: Math.max(512, heapWithin(workerMemoryMb, accelerator)),
      ...(gpus > 0 && { gpus }),
      master_url: node.role === 'worker' ? node.master_url_of_cluster : null,
      bootstrap_script: node.bootstrap_shell_script,
      bootstrap_timeout_ms: this.config.agent.bootstrapTimeoutMs,
      env: parseEnvironment(node.spark_config.env_var ?? []),
      spark_secret: this.secrets.reveal(node),
      ...this.warmDriversOf(node, accelerator),
    };
  }

  /** Returns the warm drivers of a node that runs drivers. Their heap is that of a job with the settings of the cluster alone. */
  private warmDriversOf(
    node: DesiredNodeRow,
    accelerator: AcceleratorKind | null,
  ): Pick<DesiredDaemons, 'warm_drivers'> {
    const { maxPerNode, maxCpuPressure } = this.config.agent.warmDrivers;
    if (maxPerNode === 0 || node.role === 'worker') return {};
    const { max_parallel_jobs: maxParallelJobs, spark_config: sparkConfig } = node;
    const { heapMb } = defaultDriverHeap(node, { maxParallelJobs, accelerator });
    return {
      warm_drivers: {
        count: Math.min(maxPerNode, maxParallelJobs),
        driver_memory: javaHeap(configuredDriverMemory(sparkConfig.conf ?? []) ?? `${heapMb}m`),
        max_cpu_pressure: maxCpuPressure,
        slots: maxParallelJobs,
      },
    };
  }

  /** Records why the agent of a node cannot start; 401 once an agent has used the bootstrap token. */
  async recordBootFailure(tx: Tx, { node_id, cluster_id }: ClusterNode, error: string): Promise<void> {
    // The cluster is locked first, as everywhere.
    await this.lifecycle.lock(tx, cluster_id);
    const node = await this.nodes.get(node_id, tx, true);
    if (!node || node.agent_id !== null || node.bootstrap_token_hash === null)
      throw unauthenticated('The bootstrap token has already been used.');
    await this.recordDaemons(tx, node_id, { state: 'failed', master_url: null, error });
  }

  /** Records the agent's view of its daemons, and wakes the workflow that waits for it. */
  async recordDaemons(tx: Tx, nodeId: number, daemons: ObservedDaemons): Promise<void> {
    const before = await this.nodes.get(nodeId, tx);
    if (!before || isUnchanged(before, daemons)) return;
    // The cluster is locked first, as everywhere, so that two nodes that report at once cannot deadlock.
    const cluster = await this.lifecycle.lock(tx, before.cluster_id);
    const node = await this.nodes.get(nodeId, tx, true);
    if (!cluster || !node) return;
    await this.nodes.update(tx, nodeId, {
      daemons_state: daemons.state,
      master_url: daemons.master_url,
      error: daemons.error,
    });
    if (node.role === 'master' && daemons.master_url !== node.master_url) await this.wakeWorkers(tx, node);
    if (daemons.state === 'ready')
      await this.events.publish(tx, 'nodeBecameReady', { node, clusterStatus: cluster.status });
    await this.advanceOperation(tx, cluster, node, daemons);
  }

  /** Continues the operation that waits for the node, and handles a node that fails later. */
  private async advanceOperation(
    tx: Tx,
    cluster: LockedCluster,
    node: ClusterNode,
    { state, error }: ObservedDaemons,
  ): Promise<void> {
    const isResizing = GIVES_SLOTS.includes(cluster.status);
    const workflowInstanceId = isResizing ? cluster.resize_instance_id : cluster.workflow_job_instance_id;
    if (isResizing && state === 'failed' && node.status === 'RUNNING' && node.role !== 'master')
      await this.lifecycle.markNodeLost(tx, cluster, node, error ?? 'its Spark daemons failed');
    if (workflowInstanceId === null || !(isResizing || cluster.status === 'INITIATING')) return;
    if (state === 'ready' && node.status === 'INITIATING') {
      const reason = 'The agent reports that the node is ready';
      await this.lifecycle.transitionNode(tx, node, { to: 'RUNNING', reason, userId: null, workflowInstanceId });
      if (isResizing) await this.recordGrowth(tx, node);
    }
    const all = await this.nodes.ofCluster(node.cluster_id, tx);
    if (state === 'failed' || all.every((other) => other.daemons_state === 'ready'))
      await wakeWorkflow(tx, workflowInstanceId);
  }

  /** Records the growth, so that the next nodes are added without a pause. */
  private async recordGrowth(tx: Tx, node: ClusterNode): Promise<void> {
    const startedInMs = Date.now() - node.from_date.getTime();
    await this.clusters.recordGrowth(tx, node.cluster_id, { isSpot: node.is_spot, startedInMs });
  }

  /**
   * Records the load of a node, its warm drivers, how its runs have started, the end of its drain, and an interruption by its
   * provider. Locks only the row of the node.
   */
  async recordReport(before: ClusterNode, report: NodeReport): Promise<void> {
    // Most reports contain nothing new. If the node has changed since it was read, the next report covers it.
    if (!changeOf(before, report)) return;
    await inTransaction(this.dataSource, async (tx) => {
      const node = await this.nodes.get(before.node_id, tx, true);
      const change = node && isCurrent(node) ? changeOf(node, report) : null;
      if (!node || !change) return;
      await this.nodes.update(tx, node.node_id, change.columns);
      if (change.columns.draining === true && !node.draining) await this.nodes.wake(tx, [node.node_id]);
      if (change.needsScalingDecision) await this.requestScaling(tx, node);
    });
  }

  /** Requests a scaling decision, because the report of the node may require a resize. */
  private async requestScaling(tx: Tx, node: ClusterNode): Promise<void> {
    await notifyAfterCommit(tx, 'scaling', String(node.cluster_id));
  }

  private async findByBootstrapToken(bootstrapToken: string, tx?: Tx, lock = false): Promise<ClusterNode> {
    const node = await this.nodes.findByBootstrapToken(hash(bootstrapToken), tx, lock);
    if (!node) throw unauthenticated('The bootstrap token is unknown or has expired.');
    return node;
  }

  private async wakeWorkers(tx: Tx, master: ClusterNode): Promise<void> {
    await this.nodes.wake(tx, await this.nodes.workersOf(tx, master.cluster_id));
  }
}

function nodeIdIn(nodeToken: string): number | null {
  const id = /^(\d{1,15})\./.exec(nodeToken)?.[1];
  return id === undefined ? null : Number(id);
}

function assertTokenOf(node: ClusterNode | null, nodeToken: string): asserts node is ClusterNode {
  const expected = Buffer.from(node?.node_token_hash ?? hash('absent'));
  if (!node?.node_token_hash || !timingSafeEqual(expected, Buffer.from(hash(nodeToken)))) {
    throw unauthenticated('The node token is not valid.');
  }
  if (node.status === 'DESTROYED') throw gone();
}

function isCurrent(node: ClusterNode): boolean {
  return !(node.to_date instanceof Date);
}

function gone(): DomainError {
  return new DomainError('gone', 'NODE.GONE', 'The node was stopped or destroyed, so its agent must exit.');
}

function isUnchanged(node: ClusterNode, daemons: ObservedDaemons): boolean {
  return node.daemons_state === daemons.state && node.master_url === daemons.master_url && node.error === daemons.error;
}
