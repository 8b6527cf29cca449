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
import { type Provisioning, NodePlaces } from './node-places';
import { inFull } from './node-zones';
import { afterFault } from './provider-faults';
import { type ClusterNode, hasReported } from '../model/entities/cluster-node.entity';

/**
 * - `elsewhere`: nothing of it is to be waited for where it was to be; it is to be asked for again, at another place
 * - `superseded`: another operation has replaced the one that has it made
 */
export type ProvisionResult =
  | { kind: 'accepted' }
  | {
      kind: 'elsewhere';
      /** What the provider says; null if it said so before. */
      why: string | null;
      /** Whether the provider still removes what was made where there was no room. */
      isGoing: boolean;
    }
  | { kind: 'superseded' }
  | { kind: 'failed'; error: Error };

/** The machines of nodes that are to come up. */
@Injectable()
export class NodeMachines {
  constructor(
    private readonly dataSource: DataSource,
    private readonly nodes: ClusterNodesRepository,
    private readonly snapshots: ClusterSnapshots,
    private readonly places: NodePlaces,
  ) {}

  /**
   * Has the provider make or start the machines of these nodes, in other zones where it has no room for them. Answers what
   * became of each, in their order, when all calls have ended; what the provider says for good is kept with the node.
   */
  async provision(
    snapshot: ClusterSnapshot,
    nodes: readonly ClusterNode[],
    driver: ComputeDriver,
    call: DriverContext,
    provisioning: Provisioning,
  ): Promise<ProvisionResult[]> {
    const results = new Map<number, ProvisionResult>();
    for (const [nodeId, moved] of await this.places.moveAll(snapshot, nodes, driver, call, provisioning))
      results.set(nodeId, ofMove(moved));
    const rest = nodes.filter(({ node_id, no_room }) => !results.has(node_id) && no_room === null);
    // One after the other where nobody knows yet whether there is room: the others need not be told the same.
    const [first, later] = scouts(rest);
    const full = new Set<string>();
    for (const turn of [first, later]) {
      const open = turn.filter((node) => !full.has(offerKey(node)));
      const asked = await this.nodes.noteAsked(await withReferences(open, driver));
      await driver.onSite?.assertHere([...asked.values()].filter((reference) => reference !== null));
      await Promise.all(
        open.map(async (node) => {
          if (!asked.has(node.node_id)) return;
          const outcome = await this.provisionOne(snapshot, node, driver, call);
          results.set(node.node_id, outcome);
          if (outcome.kind === 'elsewhere') full.add(offerKey(node));
        }),
      );
    }
    for (const [nodeId, outcome] of results) if (outcome.kind === 'failed') await this.keepWords(nodeId, outcome.error);
    // What another worker has changed meanwhile is looked at again.
    return nodes.map(({ node_id }) => results.get(node_id) ?? { kind: 'elsewhere', why: null, isGoing: false });
  }

  private async provisionOne(
    snapshot: ClusterSnapshot,
    node: ClusterNode,
    driver: ComputeDriver,
    call: DriverContext,
  ): Promise<ProvisionResult> {
    try {
      const made = wasThere(node)
        ? await driver.start(nodeRef(snapshot, node), call)
        : await driver.provision(this.snapshots.nodeSpec(snapshot, node), call);
      const { providerRef: provider_ref, privateIp: ip_address } = made;
      await this.nodes.accepted(node, { provider_ref, ip_address });
      return { kind: 'accepted' };
    } catch (error) {
      if (!(error instanceof ComputeDriverError)) return { kind: 'failed', error: asError(error) };
      if (await this.places.handleFault(snapshot, node, error))
        return { kind: 'elsewhere', why: error.message, isGoing: false };
      return { kind: 'failed', error: this.inFull(snapshot, node, error) };
    }
  }

  private whyDown(
    snapshot: ClusterSnapshot,
    node: ClusterNode,
    state: 'failed' | 'stopped' | 'interrupted',
    fault: ComputeDriverError | null,
  ): string {
    const isTakenBack = state === 'interrupted';
    const told = fault !== null && !isTakenBack ? this.inFull(snapshot, node, fault) : fault;
    const what = isTakenBack ? 'been interrupted' : state;
    return `Node ${node.node_number} has ${what} at the provider: ${told?.message ?? 'no detail'}`;
  }

  private inFull(snapshot: ClusterSnapshot, node: ClusterNode, fault: ComputeDriverError): ComputeDriverError {
    const { type } = snapshot.machine;
    return inFull(fault, nodeRef(snapshot, node).place, { type, hasDisk: hasReported(node) });
  }

  private async keepWords(nodeId: number, error: Error): Promise<void> {
    if (error instanceof ComputeDriverError && afterFault(error).kind === 'end')
      await this.nodes.update(this.dataSource.manager, nodeId, { error: error.message });
  }

  /**
   * By node id, why a machine will never report: better to know now than to wait for the deadline. Of one that was accepted
   * just now a provider may not know yet. Those that are to be made elsewhere are not among them: they have `no_room`.
   */
  async problems(
    snapshot: ClusterSnapshot,
    nodes: readonly ClusterNode[],
    caller: Pick<WorkflowContext, 'correlationId' | 'signal'>,
  ): Promise<Map<number, string>> {
    if (nodes.length === 0) return new Map();
    const machines = await this.revived(snapshot, nodes, await this.describe(snapshot, nodes, caller), caller);
    const problems = new Map<number, string>();
    const byToken = new Map(nodes.map((node) => [node.token, node]));
    for (const { state, fault, labels } of machines) {
      const node = byToken.get(labels.nodeToken);
      if (!node || (state !== 'failed' && state !== 'stopped' && state !== 'interrupted')) continue;
      if (fault !== null && (await this.places.handleFault(snapshot, node, fault))) continue;
      problems.set(node.node_id, this.whyDown(snapshot, node, state, fault));
    }
    await this.noteShown(byToken, machines);
    const missing = machines.filter(({ state }) => state === 'gone').map(({ labels }) => labels.nodeToken);
    for (const { node_id, node_number } of missing.length === 0 ? [] : await this.nodes.goneAmong(missing))
      problems.set(node_id, `Node ${node_number} has disappeared at the provider.`);
    return problems;
  }

  /**
   * By node id, why the machine of a node that is to come back will not: it disappeared, or its provider took it back, while
   * nobody looked.
   */
  async vanished(
    snapshot: ClusterSnapshot,
    nodes: readonly ClusterNode[],
    caller: Pick<WorkflowContext, 'correlationId' | 'signal'>,
  ): Promise<Map<number, string>> {
    const before = nodes.filter(wasThere);
    if (before.length === 0) return new Map();
    const machines = await this.describe(snapshot, before, caller);
    const whys = new Map<number, string>();
    for (const [index, { state }] of machines.entries()) {
      const node = before[index];
      if (!node || (state !== 'gone' && state !== 'interrupted')) continue;
      const what = state === 'gone' ? 'has disappeared at the provider' : 'was taken back by the provider';
      whys.set(node.node_id, `Its machine ${what} while it was stopped`);
    }
    return whys;
  }

  /**
   * The machines without those that went down by themselves and can be started again where they are: these are, as those of
   * running nodes, and again with each look until they report or the operation's time is up.
   */
  private async revived(
    snapshot: ClusterSnapshot,
    nodes: readonly ClusterNode[],
    machines: readonly ProviderNode[],
    caller: Pick<WorkflowContext, 'correlationId' | 'signal'>,
  ): Promise<ProviderNode[]> {
    const down = new Set(machines.filter(isDown).map(({ labels }) => labels.nodeToken));
    if (down.size === 0) return [...machines];
    return this.snapshots.withDriver(snapshot, caller, async ({ onSite }, call) => {
      if (!onSite) return [...machines];
      const never = new Map<string, ComputeDriverError>();
      for (const node of nodes.filter(({ token }) => down.has(token)))
        try {
          await onSite.revive(nodeRef(snapshot, node), call);
        } catch (error) {
          if (error instanceof ComputeDriverError && !error.retryable) never.set(node.token, error);
        }
      return machines.flatMap((machine) => {
        const { nodeToken } = machine.labels;
        const fault = never.get(nodeToken) ?? machine.fault;
        return down.has(nodeToken) && !never.has(nodeToken) ? [] : [{ ...machine, fault }];
      });
    });
  }

  /** What the provider shows of each, in their order. */
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

  /** From now on these count as gone when the provider does not show them. Its address may be new. */
  private async noteShown(byToken: ReadonlyMap<string, ClusterNode>, machines: readonly ProviderNode[]): Promise<void> {
    const shown = machines.filter(({ state }) => state !== 'gone');
    const isNew = ({ labels }: ProviderNode) => byToken.get(labels.nodeToken)?.seen_at === null;
    const first = shown.filter(isNew).map(({ labels }) => labels.nodeToken);
    if (first.length > 0) await this.nodes.noteSeen(first);
    for (const { labels, privateIp: ip_address } of shown) {
      const node = byToken.get(labels.nodeToken);
      if (node && ip_address !== null && node.ip_address !== ip_address)
        await this.nodes.update(this.dataSource.manager, node.node_id, { ip_address });
    }
  }
}

/** The attempts of these nodes, with the references that their machines will have. */
function withReferences(nodes: readonly ClusterNode[], { onSite }: ComputeDriver) {
  return Promise.all(
    nodes.map(async ({ node_id, attempt, token }) => ({
      ...{ node_id, attempt },
      reference: (await onSite?.reference(token)) ?? null,
    })),
  );
}

/**
 * Whether the node has a machine to be started. One that has only been accepted may not be shown yet: a repeated step
 * asks for it by the same request, which finds it.
 */
function wasThere({ provider_ref, seen_at, last_seen_at }: ClusterNode): boolean {
  return provider_ref !== null && (seen_at !== null || last_seen_at !== null);
}

/** Whether the node's machine is to be asked for, here or elsewhere. */
export function isToAsk({ accepted_at, no_room }: Pick<ClusterNode, 'accepted_at' | 'no_room'>): boolean {
  return accepted_at === null || no_room !== null;
}

/** Whether it ended although nobody wanted that, and may work again. */
function isDown({ state, fault }: ProviderNode): boolean {
  return state === 'failed' && (fault?.retryable ?? false);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(messageOf(error));
}

function ofMove(moved: PromiseSettledResult<'moved' | 'going' | 'superseded' | ComputeDriverError>): ProvisionResult {
  if (moved.status === 'rejected') return { kind: 'failed', error: asError(moved.reason) };
  const { value } = moved;
  if (value instanceof ComputeDriverError) return { kind: 'failed', error: value };
  return value === 'superseded' ? { kind: value } : { kind: 'elsewhere', why: null, isGoing: value === 'going' };
}

/** Those that are asked for at once, and those that follow: of each offer of a zone that is new to the nodes, one goes first. */
function scouts(nodes: readonly ClusterNode[]): [ClusterNode[], ClusterNode[]] {
  const sent = new Set<string>();
  const first: ClusterNode[] = [];
  const later: ClusterNode[] = [];
  for (const node of nodes) {
    const key = offerKey(node);
    const waits = node.asked_at === null && sent.has(key);
    (waits ? later : first).push(node);
    if ((node.place?.zone ?? null) !== null) sent.add(key);
  }
  return [first, later];
}

function offerKey({ place, is_spot }: ClusterNode): string {
  return JSON.stringify([place?.zone, is_spot]);
}
