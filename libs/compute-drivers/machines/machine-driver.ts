import type { BootScript } from '../cloud-driver';
import {
  type ComputeDriver,
  ComputeDriverError,
  type DriverContext,
  goneNode,
  type Market,
  type NodeRef,
  type NodeSpec,
  type OwnedScope,
  type ProviderNode,
  type ProviderNodeState,
  type SweepResult,
  type SweepScope,
} from '../compute-driver';
import { grouped } from '../grouped';
import { unexpectedResponse } from '../call-faults';
import { mergeSweepResults, removeOrphans } from '../sweep';
import type { Cloud, CloudPort, Machine, MachinePhase, NodeQuery } from './cloud-port';
import { foreignMachine, machineGone, otherAttempt, stillStopping } from './machine-faults';

const STATES: Readonly<Record<MachinePhase, ProviderNodeState>> = {
  starting: 'pending',
  running: 'running',
  stopping: 'stopping',
  halted: 'stopped',
  off: 'stopped',
  ending: 'stopping',
  over: 'gone',
};

/** Runs nodes on machines of a cloud. It implements {@link ComputeDriver} once for all providers, which differ in their {@link CloudPort}. */
export class MachineDriver<M extends Machine, C extends Cloud<M> = Cloud<M>> implements ComputeDriver {
  readonly name: string;

  constructor(
    protected readonly cloud: C,
    private readonly bootScript: BootScript,
  ) {
    this.name = cloud.name;
  }

  async provision(spec: NodeSpec, context: DriverContext): Promise<ProviderNode> {
    const { cloud } = this;
    const script = this.bootScript(spec, spec.market === 'spot' ? cloud.notice : null);
    const secrets = [spec.boot.bootstrapToken, Buffer.from(script).toString('base64')];
    const port = cloud.open(spec.place, context, secrets);
    const create = port.prepareLaunch(spec, script);
    const found = await this.findExisting(spec, port);
    if (found) return toProviderNode(found);
    try {
      const { nodeToken } = spec.labels;
      const made = await create();
      if (made.owner.nodeToken === nodeToken && made.owner.attempt === spec.attempt) return toProviderNode(made);
      throw unexpectedResponse(cloud.title, 'returned another machine than the requested one');
    } catch (error) {
      if (classify(error, port) !== 'exists') throw error;
      // Another call was first, or the request has changed since. The machine of the first call counts.
      const first = await this.findExisting(spec, port);
      if (first) return toProviderNode(first);
      throw error;
    }
  }

  async describe(refs: readonly NodeRef[], context: DriverContext): Promise<ProviderNode[]> {
    const nodes = new Map<NodeRef, ProviderNode>();
    for (const group of grouped(refs, ({ place }) => JSON.stringify([place.account, place.region])).values()) {
      const port = this.cloud.open(group[0].place, context, []);
      const byToken = grouped(await port.find(group), ({ owner }) => owner.nodeToken);
      const chosen = group.map((ref) => [ref, currentMachine(byToken.get(ref.nodeToken) ?? [], ref)] as const);
      const found = chosen.flatMap(([ref, machine]) => (machine ? [{ ref, machine }] : []));
      const machines = await withDetails(
        found.map(({ machine }) => machine),
        port,
      );
      for (const [at, machine] of machines.entries()) nodes.set(found[at]!.ref, toProviderNode(machine));
    }
    return refs.map((ref) => nodes.get(ref) ?? goneNode(ref.nodeToken));
  }

  canStop({ market }: { market: Market; type: string }): boolean {
    return market !== 'spot' || this.cloud.canStopSpot;
  }

  async stop(ref: NodeRef, context: DriverContext): Promise<'stopped' | 'stopping'> {
    const port = this.cloud.open(ref.place, context, []);
    const machine = currentMachine(await port.find([ref]), ref);
    if (!machine || machine.phase === 'over' || machine.phase === 'off') return 'stopped';
    if (machine.phase === 'ending' || machine.phase === 'stopping') return 'stopping';
    if (machine.isSpot && !this.cloud.canStopSpot)
      throw new ComputeDriverError('SpotNotStoppable', `${this.cloud.title} cannot stop spot machines.`, {
        kind: 'invalid',
      });
    await ignoringBusyOrMissing(port.stop(machine), port);
    return 'stopping';
  }

  async start(ref: NodeRef, context: DriverContext): Promise<ProviderNode> {
    const port = this.cloud.open(ref.place, context, []);
    const machine = currentMachine(await port.find([ref]), ref);
    if (machine?.end === 'interrupted' && machine.fault) throw machine.fault;
    switch (machine?.phase) {
      case undefined:
      case 'over':
      case 'ending':
        throw machineGone(this.cloud.title);
      case 'stopping':
        throw stillStopping();
      case 'starting':
      case 'running':
        return toProviderNode(machine);
      case 'halted':
      case 'off':
        await port.start(machine);
        return toProviderNode({ ...machine, phase: 'starting', end: null, fault: null });
    }
  }

  async destroy(
    { nodeToken, place }: Pick<NodeRef, 'nodeToken' | 'place'>,
    context: DriverContext,
  ): Promise<'gone' | 'going'> {
    const port = this.cloud.open(place, context, []);
    const machines = await machinesOfNode({ nodeToken, place, attempt: null }, port);
    const living = machines.filter(isAlive);
    for (const machine of living) if (machine.phase !== 'ending') await terminate([machine], port);
    for (const machine of machines)
      if (!isAlive(machine) && machine.end !== null && port.dismissEnd)
        await ignoringBusyOrMissing(port.dismissEnd(machine), port);
    if (living.length > 0 || (await port.terminateUnlisted?.(nodeToken))) return 'going';
    const left = await port.leftoversOfNode(nodeToken);
    for (const one of left) if (!one.isInUse) await ignoringBusyOrMissing(one.remove(), port);
    return left.length > 0 ? 'going' : 'gone';
  }

  async listOwned({ installationId, place }: OwnedScope, context: DriverContext): Promise<ProviderNode[]> {
    const machines = await this.cloud.open(place, context, []).listOwned(installationId);
    return machines.filter(isAlive).map(toProviderNode);
  }

  async sweep(scope: SweepScope, context: DriverContext): Promise<SweepResult> {
    const { maxTerminationsPerCall = 1, hasLeftoversWithoutAge = false } = this.cloud;
    const port = this.cloud.open(scope.place, context, []);
    const machines = await port.listOwned(scope.installationId);
    const living = machines.filter(isAlive);
    const running = living
      .filter(({ phase, isCopy }) => phase !== 'ending' && !isCopy)
      .map((machine) => ({ machine, nodeToken: machine.owner.nodeToken, createdAt: machine.createdAt }));
    const ended = await removeOrphans(running, scope, context, {
      maxPerCall: maxTerminationsPerCall,
      // The provider terminates all of them or none.
      mayBeCausedByOne: (error) =>
        error instanceof ComputeDriverError && (!error.retryable || classify(error, port) === 'busy'),
      remove: (some) =>
        terminate(
          some.map(({ machine }) => machine),
          port,
        ),
    });
    const withMachine = new Set(living.map(({ owner }) => owner.nodeToken));
    const left = await port.leftoversOfInstallation(scope.installationId, machines);
    const unused = left.filter(({ nodeToken, isInUse }) => !isInUse && !withMachine.has(nodeToken));
    const removed = await removeOrphans(unused, scope, context, {
      removesWithoutAge: hasLeftoversWithoutAge,
      remove: async ([one]) => one && ignoringBusyOrMissing(one.remove(), port),
    });
    return mergeSweepResults(ended, removed);
  }

  /** Returns the machine that an earlier call launched for the attempt. Throws if it has ended, or while another attempt has one. */
  private async findExisting(spec: NodeSpec, port: CloudPort<M>): Promise<M | null> {
    const { labels, attempt, place } = spec;
    const { title, canRelaunchAttempt } = this.cloud;
    const machines = await machinesOfNode({ nodeToken: labels.nodeToken, place, attempt }, port);
    const living = machines.filter(isAlive);
    const found = living.find(({ owner }) => owner.attempt === attempt) ?? living[0];
    if (found) {
      const { owner, phase, id } = found;
      if (owner.installationId !== labels.installationId) throw foreignMachine(title, id);
      if (owner.attempt !== attempt || (canRelaunchAttempt && phase === 'ending')) throw otherAttempt(owner.attempt);
      return found;
    }
    const before = machines.filter(({ owner }) => owner.attempt === attempt).slice(0, 1);
    const [over] = await withDetails(before, port);
    if (!over) return null;
    const message = `The machine that ${title} launched for this node ended before it was used.`;
    throw over.fault ?? new ComputeDriverError('MachineEnded', message, { kind: 'invalid' });
  }
}

function isAlive({ phase }: Machine): boolean {
  return phase !== 'over';
}

/** Returns the live machine of the node, or else the terminated one of this attempt. */
function currentMachine<M extends Machine>(machines: readonly M[], { nodeToken, attempt }: NodeRef): M | undefined {
  const own = machines.filter(({ owner }) => owner.nodeToken === nodeToken);
  return own.find(isAlive) ?? own.find(({ owner }) => owner.attempt === attempt);
}

/** Returns the machines of the node. A response may contain others. */
async function machinesOfNode<M extends Machine>(sought: NodeQuery, port: CloudPort<M>): Promise<M[]> {
  const machines = await (port.findAllAttempts ? port.findAllAttempts(sought) : port.find([sought]));
  return machines.filter(({ owner }) => owner.nodeToken === sought.nodeToken);
}

async function withDetails<M extends Machine>(machines: readonly M[], port: CloudPort<M>): Promise<readonly M[]> {
  return machines.length > 0 && port.loadDetails ? port.loadDetails(machines) : machines;
}

/** Only a call for one machine may ignore that it is gone or busy: a refused call for several terminates none of them. */
async function terminate<M extends Machine>(machines: readonly M[], port: CloudPort<M>): Promise<void> {
  const call = port.terminate(machines);
  await (machines.length === 1 ? ignoringBusyOrMissing(call, port) : call);
}

/** Ignores that a resource is gone or changing, because the caller checks again later. */
async function ignoringBusyOrMissing<M extends Machine>(call: Promise<unknown>, port: CloudPort<M>): Promise<void> {
  try {
    await call;
  } catch (error) {
    const known = classify(error, port);
    if (known !== 'busy' && known !== 'missing') throw error;
  }
}

function classify<M extends Machine>(error: unknown, port: CloudPort<M>) {
  return error instanceof ComputeDriverError ? port.classify(error) : null;
}

function toProviderNode({ id, owner, phase, end, fault, createdAt, privateIp, publicIp }: Machine): ProviderNode {
  const { installationId, tenantId, clusterId, nodeToken } = owner;
  return {
    labels: { installationId, tenantId, clusterId, nodeToken },
    providerRef: id,
    state: end ?? STATES[phase],
    privateIp,
    publicIp,
    createdAt,
    fault,
  };
}
