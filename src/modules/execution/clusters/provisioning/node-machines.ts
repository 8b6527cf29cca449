import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  type ComputeDriver,
  ComputeDriverError,
  type DriverContext,
  type ProviderNode,
} from '../../../../../libs/compute-drivers/compute-driver';
import { messageOf } from '../../../../platform/kernel/errors/message-of';
import type { WorkflowContext } from '../../../../platform/background/workflows/workflow-definition';
import { ClusterNodesRepository } from '../model/cluster-nodes.repository';
import { type ClusterSnapshot, ClusterSnapshots, nodeRef } from './cluster-snapshot';
import { NodePlaces, type Provisioning, type RelocationResult } from './node-places';
import { describeFault } from './node-zones';
import { afterFault } from './provider-faults';
import { type ClusterNode, hasReported } from '../model/entities/cluster-node.entity';

/**
 * - `elsewhere`: the node cannot get a machine in its place; the next call looks for another place
 * - `superseded`: another operation has replaced the one that provisions the node
 */
export type ProvisionResult =
  | { kind: 'accepted' }
  | {
      kind: 'elsewhere';
      /** The provider's message; null if it was reported before. */
      reason: string | null;
      /** True while the provider still removes the remains of the attempt that found no capacity. */
      isRemoving: boolean;
    }
  | { kind: 'superseded' }
  | { kind: 'failed'; error: Error };

/** Provisions the machines of nodes that start, and watches them until their agents report. */
@Injectable()
export class NodeMachines {
  constructor(
    private readonly dataSource: DataSource,
    private readonly nodes: ClusterNodesRepository,
    private readonly snapshots: ClusterSnapshots,
    private readonly places: NodePlaces,
  ) {}

  /**
   * Requests or starts the machines of these nodes. If a zone has no capacity, the node moves to another zone. Returns
   * the results in the order of the nodes, after all calls have ended. A permanent fault is recorded with its node.
   */
  async provision(
    snapshot: ClusterSnapshot,
    nodes: readonly ClusterNode[],
    driver: ComputeDriver,
    call: DriverContext,
    provisioning: Provisioning,
  ): Promise<ProvisionResult[]> {
    const results = new Map<number, ProvisionResult>();
    for (const [nodeId, settled] of await this.places.relocateAll(snapshot, nodes, driver, call, provisioning))
      results.set(nodeId, toProvisionResult(settled));
    const rest = nodes.filter(({ node_id, no_room }) => !results.has(node_id) && no_room === null);
    // In a zone of unknown capacity, one node probes first, so that the others need not run into the same refusal.
    const [probes, later] = splitProbes(rest);
    const exhausted = new Set<string>();
    for (const batch of [probes, later]) {
      const remaining = batch.filter((node) => !exhausted.has(offerKey(node)));
      const requested = await this.nodes.markRequested(await withReferences(remaining, driver));
      await driver.onSite?.assertHere([...requested.values()].filter((reference) => reference !== null));
      await Promise.all(
        remaining.map(async (node) => {
          if (!requested.has(node.node_id)) return;
          const outcome = await this.provisionOne(snapshot, node, driver, call);
          results.set(node.node_id, outcome);
          if (outcome.kind === 'elsewhere') exhausted.add(offerKey(node));
        }),
      );
    }
    for (const [nodeId, outcome] of results)
      if (outcome.kind === 'failed') await this.recordError(nodeId, outcome.error);
    // Nodes that another worker has changed meanwhile have no result; the next call handles them.
    return nodes.map(({ node_id }) => results.get(node_id) ?? { kind: 'elsewhere', reason: null, isRemoving: false });
  }

  private async provisionOne(
    snapshot: ClusterSnapshot,
    node: ClusterNode,
    driver: ComputeDriver,
    call: DriverContext,
  ): Promise<ProvisionResult> {
    try {
      const machine = hasMachine(node)
        ? await driver.start(nodeRef(snapshot, node), call)
        : await driver.provision(this.snapshots.nodeSpec(snapshot, node), call);
      const { providerRef: provider_ref, privateIp: ip_address } = machine;
      await this.nodes.markAccepted(node, { provider_ref, ip_address });
      return { kind: 'accepted' };
    } catch (error) {
      if (!(error instanceof ComputeDriverError)) return { kind: 'failed', error: asError(error) };
      if (await this.places.handleFault(snapshot, node, error))
        return { kind: 'elsewhere', reason: error.message, isRemoving: false };
      return { kind: 'failed', error: this.describeFault(snapshot, node, error) };
    }
  }

  private downReason(
    snapshot: ClusterSnapshot,
    node: ClusterNode,
    state: 'failed' | 'stopped' | 'interrupted',
    fault: ComputeDriverError | null,
  ): string {
    const isTakenBack = state === 'interrupted';
    const described = fault !== null && !isTakenBack ? this.describeFault(snapshot, node, fault) : fault;
    const what = isTakenBack ? 'been interrupted' : state;
    return `The machine of node ${node.node_number} has ${what} at the provider: ${described?.message ?? 'no details'}`;
  }

  private describeFault(snapshot: ClusterSnapshot, node: ClusterNode, fault: ComputeDriverError): ComputeDriverError {
    const { type } = snapshot.machine;
    return describeFault(fault, nodeRef(snapshot, node).place, { type, hasDisk: hasReported(node) });
  }

  private async recordError(nodeId: number, error: Error): Promise<void> {
    if (error instanceof ComputeDriverError && afterFault(error).kind === 'end')
      await this.nodes.update(this.dataSource.manager, nodeId, { error: error.message });
  }

  /**
   * Returns by node id why a machine will never report, so that nobody waits for the deadline. A machine that was
   * accepted a moment ago may not be visible at the provider yet. Nodes that must move to another place (`no_room`) are
   * not included.
   */
  async findProblems(
    snapshot: ClusterSnapshot,
    nodes: readonly ClusterNode[],
    caller: Pick<WorkflowContext, 'correlationId' | 'signal'>,
  ): Promise<Map<number, string>> {
    if (nodes.length === 0) return new Map();
    const machines = await this.reviveDown(snapshot, nodes, await this.describe(snapshot, nodes, caller), caller);
    const reasons = new Map<number, string>();
    const byToken = new Map(nodes.map((node) => [node.token, node]));
    for (const { state, fault, labels } of machines) {
      const node = byToken.get(labels.nodeToken);
      if (!node || (state !== 'failed' && state !== 'stopped' && state !== 'interrupted')) continue;
      if (fault !== null && (await this.places.handleFault(snapshot, node, fault))) continue;
      reasons.set(node.node_id, this.downReason(snapshot, node, state, fault));
    }
    await this.recordShown(byToken, machines);
    const missing = machines.filter(({ state }) => state === 'gone').map(({ labels }) => labels.nodeToken);
    for (const { node_id, node_number } of missing.length === 0 ? [] : await this.nodes.goneAmong(missing))
      reasons.set(node_id, `The machine of node ${node_number} has disappeared at the provider.`);
    return reasons;
  }

  /**
   * Returns by node id why the machine of a stopped node cannot come back: it disappeared or was taken back by the
   * provider while the node was stopped.
   */
  async findVanished(
    snapshot: ClusterSnapshot,
    nodes: readonly ClusterNode[],
    caller: Pick<WorkflowContext, 'correlationId' | 'signal'>,
  ): Promise<Map<number, string>> {
    const existing = nodes.filter(hasMachine);
    if (existing.length === 0) return new Map();
    const machines = await this.describe(snapshot, existing, caller);
    const reasons = new Map<number, string>();
    for (const [index, { state }] of machines.entries()) {
      const node = existing[index];
      if (!node || (state !== 'gone' && state !== 'interrupted')) continue;
      const what = state === 'gone' ? 'has disappeared at the provider' : 'was taken back by the provider';
      reasons.set(node.node_id, `The machine ${what} while the node was stopped`);
    }
    return reasons;
  }

  /**
   * Restarts machines that went down by themselves, and returns the others. As these polls repeat, it tries again until
   * the node reports or the operation's time is up.
   */
  private async reviveDown(
    snapshot: ClusterSnapshot,
    nodes: readonly ClusterNode[],
    machines: readonly ProviderNode[],
    caller: Pick<WorkflowContext, 'correlationId' | 'signal'>,
  ): Promise<ProviderNode[]> {
    const down = new Set(machines.filter(isDown).map(({ labels }) => labels.nodeToken));
    if (down.size === 0) return [...machines];
    return this.snapshots.withDriver(snapshot, caller, async ({ onSite }, call) => {
      if (!onSite) return [...machines];
      const unrevivable = new Map<string, ComputeDriverError>();
      for (const node of nodes.filter(({ token }) => down.has(token)))
        try {
          await onSite.revive(nodeRef(snapshot, node), call);
        } catch (error) {
          if (error instanceof ComputeDriverError && !error.retryable) unrevivable.set(node.token, error);
        }
      return machines.flatMap((machine) => {
        const { nodeToken } = machine.labels;
        const fault = unrevivable.get(nodeToken) ?? machine.fault;
        return down.has(nodeToken) && !unrevivable.has(nodeToken) ? [] : [{ ...machine, fault }];
      });
    });
  }

  /** Returns the provider's view of each node, in the order of the nodes. */
  private describe(
    snapshot: ClusterSnapshot,
    nodes: readonly ClusterNode[],
    caller: Pick<WorkflowContext, 'correlationId' | 'signal'>,
  ): Promise<ProviderNode[]> {
    return this.snapshots.withDriver(snapshot, caller, (driver, call) =>
      driver.describe(
        nodes.map((node) => nodeRef(snapshot, node)),
        call,
      ),
    );
  }

  /**
   * Records that the provider shows these machines, so that they count as gone once it no longer does. Updates their
   * addresses.
   */
  private async recordShown(
    byToken: ReadonlyMap<string, ClusterNode>,
    machines: readonly ProviderNode[],
  ): Promise<void> {
    const shown = machines.filter(({ state }) => state !== 'gone');
    const isNew = ({ labels }: ProviderNode) => byToken.get(labels.nodeToken)?.seen_at === null;
    const probes = shown.filter(isNew).map(({ labels }) => labels.nodeToken);
    if (probes.length > 0) await this.nodes.markSeen(probes);
    for (const { labels, privateIp: ip_address } of shown) {
      const node = byToken.get(labels.nodeToken);
      if (node && ip_address !== null && node.ip_address !== ip_address)
        await this.nodes.update(this.dataSource.manager, node.node_id, { ip_address });
    }
  }
}

/** Returns the attempts of these nodes with the references that their machines will have. */
function withReferences(nodes: readonly ClusterNode[], { onSite }: ComputeDriver) {
  return Promise.all(
    nodes.map(async ({ node_id, attempt, token }) => ({
      ...{ node_id, attempt },
      reference: (await onSite?.reference(token)) ?? null,
    })),
  );
}

/**
 * True if the node has a machine that can be started. A machine that is only accepted may not be visible yet: then a
 * retried step repeats the same request, which finds it.
 */
function hasMachine({ provider_ref, seen_at, last_seen_at }: ClusterNode): boolean {
  return provider_ref !== null && (seen_at !== null || last_seen_at !== null);
}

/** True if the node's machine must still be requested, in this place or another. */
export function needsProvisioning({ accepted_at, no_room }: Pick<ClusterNode, 'accepted_at' | 'no_room'>): boolean {
  return accepted_at === null || no_room !== null;
}

/** True if the machine ended unexpectedly and can be revived. */
function isDown({ state, fault }: ProviderNode): boolean {
  return state === 'failed' && (fault?.retryable ?? false);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(messageOf(error));
}

function toProvisionResult(settled: PromiseSettledResult<RelocationResult>): ProvisionResult {
  if (settled.status === 'rejected') return { kind: 'failed', error: asError(settled.reason) };
  const { value } = settled;
  if (value instanceof ComputeDriverError) return { kind: 'failed', error: value };
  return value === 'superseded' ? { kind: value } : { kind: 'elsewhere', reason: null, isRemoving: value === 'going' };
}

/**
 * Divides nodes into probes, which are requested at once, and the rest. Of the nodes of a zone and market that were never
 * requested, only the first one is a probe.
 */
function splitProbes(nodes: readonly ClusterNode[]): [ClusterNode[], ClusterNode[]] {
  const probed = new Set<string>();
  const probes: ClusterNode[] = [];
  const later: ClusterNode[] = [];
  for (const node of nodes) {
    const key = offerKey(node);
    const waits = node.asked_at === null && probed.has(key);
    (waits ? later : probes).push(node);
    if ((node.place?.zone ?? null) !== null) probed.add(key);
  }
  return [probes, later];
}

function offerKey({ place, is_spot }: ClusterNode): string {
  return JSON.stringify([place?.zone, is_spot]);
}
