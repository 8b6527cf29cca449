import { isIP } from 'node:net';
import type { VirtualMachine } from '@azure/arm-compute';
import type { NetworkInterface } from '@azure/arm-network';
import { type CloudDriverOptions, INSTALLATION_LABEL, MACHINE_LABEL, NODE_LABEL, ownerOf } from '../cloud-driver';
import {
  type ComputeDriver,
  ComputeDriverError,
  goneNode,
  type DriverContext,
  type Market,
  type NodeRef,
  type NodeSpec,
  type OwnedScope,
  type OwnershipLabels,
  type ProviderNode,
  type ProviderNodeState,
  type SweepScope,
  type Swept,
} from '../compute-driver';
import { both, sweepFound } from '../sweep';
import { invalidRequest, isInUse, statusFault } from './azure-faults';
import { groupOf, nodeNames, type NodeNames, type NodeRequests, nodeRequests } from './azure-requests';
import { type AzureEndpoints, type AzureSession, AzureSessions, type CallOptions } from './azure-session';

export type AzureDriverOptions = CloudDriverOptions & Pick<AzureEndpoints, 'authority' | 'ca'>;

/** Nodes that are asked for at once; Azure counts the calls of a principal. */
const ASKED_AT_ONCE = 8;
/** A list that is longer is not read to its end. */
const MOST_LISTED = 200_000;
const MOST_PAGES = 5_000;
const BUSY_MS = 5_000;
/** No size of machines has more data disks. */
const MOST_DISKS = 64;

/** What Azure answers where a machine of the name exists already. */
const EXISTS: ReadonlySet<string> = new Set([
  'AZURE.PreconditionFailed',
  'AZURE.PropertyChangeNotAllowed',
  'AZURE.ResourceExists',
  'AZURE.HTTP 412',
]);

type Kind = 'card' | 'address' | 'disk';

/** Something of a node besides its machine. */
interface Part {
  kind: Kind;
  name: string;
}

/** A part that a list shows. */
interface ListedPart extends Part {
  labels: OwnershipLabels;
  /** Azure tells it of disks only. */
  createdAt: Date | null;
}

/** A machine that a list shows. */
interface ListedMachine {
  node: ProviderNode;
  isEnding: boolean;
  /** Whether it has the name of its node's machine: a copy that somebody made has the same tags. */
  isNamed: boolean;
}

/** A resource as far as it is read; what answers is not trusted to have the shape. */
interface Resource {
  name?: unknown;
  tags?: unknown;
}

/** Makes nodes of Azure's virtual machines. */
export class AzureDriver implements ComputeDriver {
  readonly name = 'azure';
  private readonly sessions: AzureSessions;

  constructor(private readonly options: AzureDriverOptions) {
    this.sessions = new AzureSessions(options.outbound, options);
  }

  /** A spot machine that is deallocated has been taken back: so much is sure only where the platform stops none. */
  canStop({ market }: { market: Market; type: string }): boolean {
    return market !== 'spot';
  }

  async provision(spec: NodeSpec, context: DriverContext): Promise<ProviderNode> {
    const script = this.options.bootScript(spec, spec.market === 'spot' ? 'azure' : null);
    const session = this.sessions
      .of(context)
      .hiding([spec.boot.bootstrapToken, Buffer.from(script).toString('base64')]);
    const requests = nodeRequests(spec, script, session.subscription);
    const existing = await this.sameAttempt(session, spec, requests.group, context);
    if (existing) return existing;
    try {
      const made = await this.make(session, requests, context);
      return { ...machineNode(session, requests.group, made, null), labels: spec.labels };
    } catch (error) {
      if (!(error instanceof ComputeDriverError) || !EXISTS.has(error.code)) throw error;
      const other = await this.sameAttempt(session, spec, requests.group, context);
      if (other) return other;
      throw error;
    }
  }

  async describe(refs: readonly NodeRef[], context: DriverContext): Promise<ProviderNode[]> {
    if (refs.length === 0) return [];
    const session = this.sessions.of(context);
    const nodes = new Array<ProviderNode>(refs.length);
    const open = refs.entries();
    const work = async (): Promise<void> => {
      for (const [index, ref] of open) nodes[index] = await this.describeOne(session, ref, context);
    };
    await Promise.all(Array.from({ length: Math.min(ASKED_AT_ONCE, refs.length) }, work));
    return nodes;
  }

  async stop(ref: NodeRef, context: DriverContext): Promise<'stopped' | 'stopping'> {
    const session = this.sessions.of(context);
    const group = groupOf(ref.place);
    const machine = await this.ownMachine(session, ref, context);
    if (machine === null) return 'stopped';
    const power = powerOf(machine);
    if (power === 'deallocated') return 'stopped';
    if (power !== 'deallocating' && machine.provisioningState !== 'Deleting')
      await submitted(session, context, (options) =>
        session.compute.virtualMachines.deallocate(group, nodeNames(ref.nodeToken).machine, options),
      );
    return 'stopping';
  }

  async start(ref: NodeRef, context: DriverContext): Promise<ProviderNode> {
    const session = this.sessions.of(context);
    const group = groupOf(ref.place);
    const machine = await this.ownMachine(session, ref, context);
    if (machine === null) throw invalidRequest('Azure has no such machine.');
    const node = machineNode(session, group, machine, null);
    if (node.state === 'interrupted') throw node.fault ?? evicted();
    if (node.state === 'stopping')
      throw new ComputeDriverError('AZURE.STOPPING', 'The machine is on its way to be stopped.', {
        kind: 'transient',
        retryAfterMs: BUSY_MS,
      });
    if (powerOf(machine) === 'running' || powerOf(machine) === 'starting' || node.state === 'pending') return node;
    await submitted(session, context, (options) =>
      session.compute.virtualMachines.start(group, nodeNames(ref.nodeToken).machine, options),
    );
    return { ...node, state: 'pending', fault: null };
  }

  async destroy(ref: Pick<NodeRef, 'nodeToken' | 'place'>, context: DriverContext): Promise<'gone' | 'going'> {
    const session = this.sessions.of(context);
    const group = groupOf(ref.place);
    const names = nodeNames(ref.nodeToken);
    const machine = await this.ownMachine(session, ref, context);
    if (machine !== null) {
      // Its card, address and disks go with it, as they were made.
      if (machine.provisioningState !== 'Deleting') await this.endMachine(session, group, ref.nodeToken, context);
      return 'going';
    }
    const parts = await this.partsOf(session, group, names, ref.nodeToken, context);
    if (parts.length === 0) return 'gone';
    await removeParts(session, group, parts, context);
    return 'going';
  }

  async listOwned({ installationId, place }: OwnedScope, context: DriverContext): Promise<ProviderNode[]> {
    const session = this.sessions.of(context);
    const group = groupOf(place);
    const machines = await this.listMachines(session, group, installationId, context);
    return machines.map(({ node }) => node);
  }

  async sweep(scope: SweepScope, context: DriverContext): Promise<Swept> {
    const { installationId } = scope;
    const session = this.sessions.of(context);
    const group = groupOf(scope.place);
    // The parts first: what is made meanwhile has its machine on the second list, and its node among those that live.
    const parts = await this.listParts(session, group, installationId, context);
    const machines = await this.listMachines(session, group, installationId, context);
    const ended = await sweepFound(
      machines.filter(({ isEnding, isNamed }) => isNamed && !isEnding).map(swept),
      scope,
      context,
      { remove: async ([one]) => one && (await this.endMachine(session, group, one.nodeToken, context)) },
    );
    const withMachine = new Set(machines.map(({ node }) => node.labels.nodeToken));
    const left = new Map<string, { nodeToken: string; createdAt: Date | null; parts: ListedPart[] }>();
    for (const part of parts) {
      const { nodeToken } = part.labels;
      if (withMachine.has(nodeToken) || (part.createdAt !== null && part.createdAt >= scope.olderThan)) continue;
      const ofNode = left.get(nodeToken) ?? { nodeToken, createdAt: null, parts: [] };
      ofNode.parts.push(part);
      left.set(nodeToken, ofNode);
    }
    const removed = await sweepFound([...left.values()], scope, context, {
      // Each of them is old enough, or of a kind whose age Azure does not tell.
      ageless: true,
      remove: async ([one]) => one && (await removeParts(session, group, one.parts, context)),
    });
    return both(ended, removed);
  }

  private async endMachine(
    session: AzureSession,
    group: string,
    nodeToken: string,
    context: DriverContext,
  ): Promise<void> {
    await submitted(session, context, (options) =>
      session.compute.virtualMachines.delete(group, nodeNames(nodeToken).machine, { ...options, forceDeletion: true }),
    );
  }

  private async listMachines(
    session: AzureSession,
    group: string,
    installationId: string,
    context: DriverContext,
  ): Promise<ListedMachine[]> {
    return listed(
      session,
      context,
      (options) => session.compute.virtualMachines.list(group, options),
      (machine) => {
        const owner = ownerIn(machine);
        if (owner?.installationId !== installationId) return null;
        return {
          node: machineNode(session, group, machine, null),
          isEnding: machine.provisioningState === 'Deleting',
          isNamed: String(machine.name).toLowerCase() === nodeNames(owner.nodeToken).machine.toLowerCase(),
        };
      },
    );
  }

  /** The requests in order: each refers to what the ones before have made, and either may be repeated. */
  private async make(
    session: AzureSession,
    { group, names, address, card, disks, machine }: NodeRequests,
    context: DriverContext,
  ): Promise<VirtualMachine> {
    const { compute, network } = session;
    if (address)
      await session.call(context, (options) =>
        network.publicIPAddresses.beginCreateOrUpdate(group, names.address, address, options),
      );
    await session.call(context, (options) =>
      network.networkInterfaces.beginCreateOrUpdate(group, names.card, card, options),
    );
    for (const { name, disk } of disks)
      await submitted(session, context, (options) => compute.disks.createOrUpdate(group, name, disk, options));
    await submitted(session, context, (options) =>
      // Azure would take the request for another attempt as a change of the machine.
      compute.virtualMachines.createOrUpdate(group, names.machine, machine, { ...options, ifNoneMatch: '*' }),
    );
    return { ...machine, name: names.machine, provisioningState: 'Creating' };
  }

  /** The node's machine if it is that of this attempt; null if there is none. Throws while another has its name. */
  private async sameAttempt(
    session: AzureSession,
    spec: NodeSpec,
    group: string,
    context: DriverContext,
  ): Promise<ProviderNode | null> {
    const { labels, attempt, place } = spec;
    const machine = await this.ownMachine(session, { nodeToken: labels.nodeToken, place }, context);
    if (machine === null) return null;
    const owner = ownerIn(machine);
    if (owner?.installationId !== labels.installationId) throw foreign();
    if (owner.attempt !== attempt || machine.provisioningState === 'Deleting')
      throw new ComputeDriverError('AZURE.OTHER_ATTEMPT', 'The machine of another attempt still exists.', {
        kind: 'transient',
        retryAfterMs: BUSY_MS,
      });
    const card = await findCard(session, group, nodeNames(labels.nodeToken), context);
    return machineNode(session, group, machine, card);
  }

  private async describeOne(session: AzureSession, ref: NodeRef, context: DriverContext): Promise<ProviderNode> {
    const { nodeToken, place } = ref;
    const group = groupOf(place);
    const [machine, card] = await Promise.all([
      this.ownMachine(session, ref, context),
      findCard(session, group, nodeNames(nodeToken), context),
    ]);
    return machine === null ? goneNode(nodeToken) : machineNode(session, group, machine, card);
  }

  /** Null where there is none. Throws where the name is taken by what is not the node's. */
  private async ownMachine(
    session: AzureSession,
    { nodeToken, place }: Pick<NodeRef, 'nodeToken' | 'place'>,
    context: DriverContext,
  ): Promise<VirtualMachine | null> {
    const { machine: name } = nodeNames(nodeToken);
    const machine = await session.find(context, (options) =>
      session.compute.virtualMachines.get(groupOf(place), name, { ...options, expand: 'instanceView' }),
    );
    if (machine !== null && ownerIn(machine)?.nodeToken !== nodeToken) throw foreign();
    return machine;
  }

  /** What is left of a node without a machine. */
  private async partsOf(
    session: AzureSession,
    group: string,
    names: NodeNames,
    nodeToken: string,
    context: DriverContext,
  ): Promise<Part[]> {
    const { compute, network } = session;
    const disk = (name: string) => session.find(context, (options) => compute.disks.get(group, name, options));
    const found = await Promise.all([
      findCard(session, group, names, context),
      session.find(context, (options) => network.publicIPAddresses.get(group, names.address, options)),
      disk(names.bootDisk),
    ]);
    const own: (Part & { resource: Resource | null })[] = [
      { kind: 'card', name: names.card, resource: found[0] },
      { kind: 'address', name: names.address, resource: found[1] },
      { kind: 'disk', name: names.bootDisk, resource: found[2] },
    ];
    for (let first = 0; first < MOST_DISKS; first += ASKED_AT_ONCE) {
      const some = Array.from({ length: ASKED_AT_ONCE }, (_, at) => names.disk(first + at));
      const disks = await Promise.all(
        some.map(async (name) => ({ kind: 'disk' as const, name, resource: await disk(name) })),
      );
      own.push(...disks);
      // Not at the first that is missing: of several, some may be removed before the others.
      if (disks.every(({ resource }) => resource === null)) break;
    }
    return own.filter(({ resource }) => resource !== null && ownerIn(resource)?.nodeToken === nodeToken);
  }

  private async listParts(
    session: AzureSession,
    group: string,
    installationId: string,
    context: DriverContext,
  ): Promise<ListedPart[]> {
    const { compute, network } = session;
    const partIn =
      (kind: Kind) =>
      (resource: Resource & { timeCreated?: unknown }): ListedPart | null => {
        const labels = ownerIn(resource);
        const { name, timeCreated } = resource;
        if (labels?.installationId !== installationId || !isPartName(name)) return null;
        return { kind, name, labels, createdAt: dateOf(timeCreated) };
      };
    const found = await Promise.all([
      listed(session, context, (options) => network.networkInterfaces.list(group, options), partIn('card')),
      listed(session, context, (options) => network.publicIPAddresses.list(group, options), partIn('address')),
      listed(session, context, (options) => compute.disks.listByResourceGroup(group, options), partIn('disk')),
    ]);
    return found.flat();
  }
}

function swept({ node }: ListedMachine) {
  return { nodeToken: node.labels.nodeToken, createdAt: node.createdAt };
}

/** An SDK's operation, whose end nobody here waits for: its promise would. */
async function submitted(
  session: AzureSession,
  context: DriverContext,
  begin: (options: CallOptions) => { submitted(): Promise<void> },
): Promise<void> {
  await session.call(context, (options) => begin(options).submitted());
}

/** What is read of all of a list, within bounds, without what is none; nothing else of a page is kept. */
async function listed<T, R>(
  session: AzureSession,
  context: DriverContext,
  list: (options: CallOptions) => { byPage(): AsyncIterableIterator<T[]> },
  read: (one: T) => R | null,
): Promise<R[]> {
  const found: R[] = [];
  let pages: AsyncIterableIterator<T[]> | null = null;
  let length = 0;
  for (let count = 0; count < MOST_PAGES; count += 1) {
    const page: IteratorResult<T[], unknown> | null = await session.find(context, (options) => {
      pages ??= list(options).byPage();
      return pages.next();
    });
    if (page === null || page.done) return found;
    if (!Array.isArray(page.value)) throw unreadable();
    length += page.value.length;
    if (length > MOST_LISTED) break;
    for (const one of page.value) {
      const what = read(one);
      if (what !== null) found.push(what);
    }
  }
  throw invalidRequest(
    `The resource group has more than ${MOST_LISTED} resources of a kind, or lists them without an end.`,
  );
}

/**
 * Removes parts: addresses only once no card holds them, which is one call later. One that cannot be removed keeps none of
 * the others; one that is still in use is tried again with the next call.
 */
async function removeParts(
  session: AzureSession,
  group: string,
  parts: readonly Part[],
  context: DriverContext,
): Promise<void> {
  const { compute, network } = session;
  const hasCard = parts.some(({ kind }) => kind === 'card');
  const failures: ComputeDriverError[] = [];
  for (const { kind, name } of parts)
    try {
      if (kind === 'card')
        await session.call(context, (options) => network.networkInterfaces.beginDelete(group, name, options));
      else if (kind === 'disk')
        await submitted(session, context, (options) => compute.disks.delete(group, name, options));
      else if (!hasCard)
        await session.call(context, (options) => network.publicIPAddresses.beginDelete(group, name, options));
    } catch (error) {
      if (!(error instanceof ComputeDriverError) || context.signal.aborted) throw error;
      if (!isInUse(error)) failures.push(error);
    }
  const [failure] = failures;
  if (failure) throw failure;
}

function findCard(
  session: AzureSession,
  group: string,
  { card }: NodeNames,
  context: DriverContext,
): Promise<NetworkInterface | null> {
  return session.find(context, (options) =>
    session.network.networkInterfaces.get(group, card, { ...options, expand: 'ipConfigurations/publicIPAddress' }),
  );
}

function machineNode(
  session: AzureSession,
  group: string,
  machine: VirtualMachine,
  card: NetworkInterface | null,
): ProviderNode {
  const labels = ownerIn(machine);
  if (labels === null) throw unreadable();
  const { installationId, tenantId, clusterId, nodeToken } = labels;
  const state = stateOf(machine);
  const { privateIPAddress, publicIPAddress } = card?.ipConfigurations?.[0] ?? {};
  return {
    labels: { installationId, tenantId, clusterId, nodeToken },
    providerRef: `/subscriptions/${session.subscription}/resourceGroups/${group}/providers/Microsoft.Compute/virtualMachines/${nodeNames(nodeToken).machine}`,
    state,
    privateIp: addressOf(privateIPAddress),
    publicIp: addressOf(publicIPAddress?.ipAddress),
    createdAt: dateOf(machine.timeCreated),
    fault: faultOf(machine, state, session.secrets),
  };
}

/**
 * What a machine does. Where its last change failed, the power says more: one that was not given its machine when it was to
 * start has none.
 */
function stateOf(machine: VirtualMachine): ProviderNodeState {
  const { provisioningState, priority } = machine;
  if (provisioningState === 'Deleting') return 'stopping';
  const failed = provisioningState === 'Failed';
  switch (powerOf(machine)) {
    case 'running':
      return 'running';
    case 'starting':
      return 'pending';
    case 'deallocating':
    case 'stopping':
      return 'stopping';
    case 'deallocated':
      if (priority === 'Spot') return 'interrupted';
      return failed ? 'failed' : 'stopped';
    case 'stopped':
      return 'stopped';
    default:
      return failed ? 'failed' : 'pending';
  }
}

function faultOf(
  machine: VirtualMachine,
  state: ProviderNodeState,
  secrets: readonly string[],
): ComputeDriverError | null {
  if (state === 'interrupted') return evicted();
  if (state !== 'failed') return null;
  for (const { code, message } of statusesOf(machine)) {
    const [, failure] = /^ProvisioningState\/failed\/(.+)$/i.exec(code) ?? [];
    if (failure !== undefined) return statusFault(failure, message, secrets);
  }
  return statusFault('ProvisioningFailed', 'Azure could not make the machine and does not say why', secrets);
}

/** Of the form `PowerState/running`; empty where the answer has none, as while the machine is made. */
function powerOf(machine: VirtualMachine): string {
  for (const { code } of statusesOf(machine)) {
    const [, power] = /^PowerState\/(\w+)$/.exec(code) ?? [];
    if (power !== undefined) return power;
  }
  return '';
}

function statusesOf({ instanceView }: VirtualMachine): { code: string; message: string }[] {
  const statuses: unknown = instanceView?.statuses;
  if (!Array.isArray(statuses)) return [];
  return statuses.slice(0, 100).map((status: unknown) => {
    const { code, message } = Object(status) as { code?: unknown; message?: unknown };
    return { code: typeof code === 'string' ? code : '', message: typeof message === 'string' ? message : '' };
  });
}

/** Whose a resource is by its tags, whose names Azure may give in another case. */
function ownerIn({ tags }: Resource): (OwnershipLabels & { attempt: number }) | null {
  if (typeof tags !== 'object' || tags === null) return null;
  const texts = Object.entries(tags).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return ownerOf(Object.fromEntries(texts.map(([name, value]) => [name.toLowerCase(), value])));
}

/** It becomes a part of a path. */
function isPartName(name: unknown): name is string {
  return typeof name === 'string' && /^[\w-][\w.-]{0,79}$/.test(name);
}

function addressOf(value: unknown): string | null {
  return typeof value === 'string' && isIP(value) !== 0 ? value : null;
}

function dateOf(value: unknown): Date | null {
  const date = value instanceof Date ? value : typeof value === 'string' ? new Date(value) : null;
  return date === null || Number.isNaN(date.getTime()) ? null : date;
}

function evicted(): ComputeDriverError {
  return new ComputeDriverError('AZURE.EVICTED', 'Azure took the spot machine back.', {
    kind: 'capacity',
    scope: 'region',
  });
}

function foreign(): ComputeDriverError {
  return invalidRequest(
    `A machine with the node's name exists, but its tags (${NODE_LABEL} and ${INSTALLATION_LABEL}, or ${MACHINE_LABEL}) name another owner.`,
  );
}

function unreadable(): ComputeDriverError {
  return new ComputeDriverError('AZURE.ANSWER', 'Azure answers with something that is not a machine.', {
    kind: 'transient',
  });
}
