import type { compute_v1 } from '@googleapis/compute/build/v1';
import type { CloudDriverOptions } from '../cloud-driver';
import {
  type ComputeDriver,
  ComputeDriverError,
  type DriverContext,
  type NodeRef,
  type NodeSpec,
  type OwnedScope,
  type ProviderNode,
  type Swept,
  type SweepScope,
} from '../compute-driver';
import { grouped } from '../grouped';
import { both, sweepFound } from '../sweep';
import { GoogleClient } from './google-client';
import { googleFault, operationFault } from './google-faults';
import { machineOf } from './google-machine';
import { invalidInput, machineName, nodeName, projectOf, requestId, zoneOf } from './google-names';
import {
  type Doing,
  doings,
  installationFilter,
  type LeftOver,
  type Machine,
  nodeFrom,
  regionLeftOvers,
  regionMachines,
  stateOf,
  tokenFilter,
  zoneMachines,
} from './google-resources';

/** Tokens in one filter: it is part of an address. */
const TOKENS_A_QUESTION = 50;
/** Questions about single machines at once. */
const QUESTIONS_AT_ONCE = 8;

const PREEMPTED = 'compute.instances.preempted';

/**
 * Nodes as instances of Google Compute Engine. An instance has a name that follows from its node and attempt, so that a
 * second one cannot be made, and the request for it an id, by which a repetition finds the first one's operation. What goes
 * wrong with an accepted request stands in its operation only, and so does that a spot instance was taken back.
 */
export class GoogleDriver implements ComputeDriver {
  readonly name = 'google';

  constructor(private readonly options: CloudDriverOptions) {}

  async provision(spec: NodeSpec, context: DriverContext): Promise<ProviderNode> {
    const { labels, attempt, place, boot } = spec;
    const { nodeToken } = labels;
    const instance = machineOf(spec, this.options.bootScript(spec, spec.market === 'spot' ? 'gcp' : null));
    const client = this.client(context);
    client.secrets.push(boot.bootstrapToken);
    const [project, zone] = [projectOf(place), zoneOf(place)];
    const filter = tokenFilter([nodeToken]);
    // Attempts before may have been in other zones.
    const machines =
      attempt === 1
        ? await zoneMachines(client, project, zone, filter)
        : (await regionMachines(client, place, filter)).filter(of(nodeToken));
    const found = machines.find((one) => one.owner.attempt === attempt);
    if (found) return nodeFrom(owned(found, spec));
    if (machines.length > 0)
      throw new ComputeDriverError('GOOGLE.OTHER_ATTEMPT', 'The machine of an earlier attempt still exists.', {
        kind: 'transient',
      });
    const operation = await this.insert(client, spec, instance);
    const fault = operation && operationFault(operation, client.secrets);
    if (fault) throw fault;
    return { ...absent(spec.labels, 'pending'), providerRef: machineName(nodeToken, attempt) };
  }

  async describe(refs: readonly NodeRef[], context: DriverContext): Promise<ProviderNode[]> {
    if (refs.length === 0) return [];
    const client = this.client(context);
    const machines = new Map<string, Machine>();
    for (const group of grouped(refs, ({ place }) => JSON.stringify([place.account, place.zone])).values()) {
      const { project, zone } = placeOf(group[0]);
      for (const some of chunks(group, TOKENS_A_QUESTION)) {
        const tokens = some.map(({ nodeToken }) => nodeToken);
        for (const one of await zoneMachines(client, project, zone, tokenFilter(tokens))) machines.set(one.name, one);
      }
    }
    const told: ProviderNode[] = [];
    for (const some of chunks(refs, QUESTIONS_AT_ONCE))
      told.push(...(await Promise.all(some.map((ref) => this.told(client, ref, machineFor(ref, machines))))));
    return told;
  }

  /** Spot instances are stopped when they are taken back, and may be stopped before. */
  canStop(): boolean {
    return true;
  }

  async stop(ref: NodeRef, context: DriverContext): Promise<'stopped' | 'stopping'> {
    const client = this.client(context);
    const machine = await this.find(client, ref);
    if (!machine) return 'stopped';
    const state = stateOf(machine);
    if (state === 'stopped' || state === 'stopping') return state;
    const { project, zone } = placeOf(ref);
    // A machine with local disks is not stopped unless somebody says what is to become of them.
    const discard = machine.hasLocalSsd ? { discardLocalSsd: true } : {};
    await unlessBusy(() =>
      client.call((api, options) => api.instances.stop({ project, zone, instance: machine.name, ...discard }, options)),
    );
    return 'stopping';
  }

  async start(ref: NodeRef, context: DriverContext): Promise<ProviderNode> {
    const client = this.client(context);
    const machine = await this.find(client, ref);
    if (!machine) throw invalidInput('NOT_FOUND', 'The machine of the node does not exist.');
    const told = await this.told(client, ref, machine);
    switch (told.state) {
      case 'running':
      case 'pending':
        return told;
      case 'interrupted':
        throw told.fault ?? interruption('');
      case 'stopping':
        throw new ComputeDriverError('GOOGLE.STOPPING', 'The machine is still stopping.', { kind: 'transient' });
      case 'stopped':
      case 'failed':
      case 'gone':
        break;
    }
    const { project, zone } = placeOf(ref);
    const operation = await client.call((api, options) =>
      api.instances.start({ project, zone, instance: machine.name }, options),
    );
    const fault = operationFault(operation, client.secrets);
    if (fault) throw fault;
    return { ...told, state: 'pending', fault: null };
  }

  async destroy(
    { nodeToken, place }: Pick<NodeRef, 'nodeToken' | 'place'>,
    context: DriverContext,
  ): Promise<'gone' | 'going'> {
    const client = this.client(context);
    const filter = tokenFilter([nodeToken]);
    const machines = (await regionMachines(client, place, filter)).filter(of(nodeToken));
    for (const machine of machines) await this.deleteMachine(client, place, machine);
    if (machines.length > 0) return 'going';
    if (place.zone !== null && (await this.endHidden(client, place, nodeToken))) return 'going';
    const leftOvers = (await regionLeftOvers(client, place, filter)).filter(of(nodeToken));
    for (const one of leftOvers) if (!one.inUse) await this.deleteLeftOver(client, place, one);
    return leftOvers.length > 0 ? 'going' : 'gone';
  }

  async listOwned({ installationId, place }: OwnedScope, context: DriverContext): Promise<ProviderNode[]> {
    return (await this.ownedMachines(this.client(context), installationId, place)).map(nodeFrom);
  }

  async sweep(scope: SweepScope, context: DriverContext): Promise<Swept> {
    const { installationId, place } = scope;
    const client = this.client(context);
    const machines = await this.ownedMachines(client, installationId, place);
    const ended = await sweepFound(machines.map(swept), scope, context, {
      remove: async ([one]) => one && (await this.deleteMachine(client, place, one.found)),
    });
    const leftOvers = await regionLeftOvers(client, place, installationFilter(installationId));
    const unused = leftOvers.filter(({ owner, inUse }) => owner.installationId === installationId && !inUse);
    const removed = await sweepFound(unused.map(swept), scope, context, {
      remove: async ([one]) => one && (await this.deleteLeftOver(client, place, one.found)),
    });
    return both(ended, removed);
  }

  private client(context: DriverContext): GoogleClient {
    const { outbound, endpoint } = this.options;
    return new GoogleClient(outbound, endpoint, context);
  }

  /** Null where there is a machine of that name already, which is not shown yet. */
  private async insert(
    client: GoogleClient,
    spec: NodeSpec,
    requestBody: compute_v1.Schema$Instance,
  ): Promise<compute_v1.Schema$Operation | null> {
    const { labels, attempt, place } = spec;
    const [project, zone] = [projectOf(place), zoneOf(place)];
    const instance = machineName(labels.nodeToken, attempt);
    try {
      const id = requestId(labels.nodeToken, attempt);
      return await client.call((api, options) =>
        api.instances.insert({ project, zone, requestId: id, requestBody }, options),
      );
    } catch (error) {
      if (!isFault(error, 'alreadyExists')) throw error;
      const machines = await zoneMachines(client, project, zone, `name="${instance}"`);
      const [found] = machines;
      if (found) owned(found, spec);
      return null;
    }
  }

  /** A machine as its node, with what only operations say about it. */
  private async told(client: GoogleClient, ref: NodeRef, machine: Machine | undefined): Promise<ProviderNode> {
    if (machine && stateOf(machine) !== 'stopped') return nodeFrom(machine);
    const { project, zone } = placeOf(ref);
    const name = nameOf(ref);
    // The names of others may begin like this one.
    const done = (await doings(client, project, zone, name)).filter((one) => one.machine === name);
    if (machine) return stoppedNode(machine, done);
    const inserted = done.find(({ type }) => type === 'insert');
    const node = absent({ installationId: '', tenantId: '', clusterId: '', nodeToken: ref.nodeToken }, 'gone');
    if (!inserted) return node;
    if (!inserted.done) return { ...node, providerRef: name, state: 'pending' };
    return inserted.fault ? { ...node, providerRef: name, state: 'failed', fault: inserted.fault } : node;
  }

  private async find(client: GoogleClient, ref: NodeRef): Promise<Machine | undefined> {
    const { project, zone } = placeOf(ref);
    const machines = await zoneMachines(client, project, zone, tokenFilter([ref.nodeToken]));
    return machines.find(({ name, owner }) => name === nameOf(ref) && owner.nodeToken === ref.nodeToken);
  }

  /** Ends what was asked for and is not listed yet: it would come up later. Says whether there was any. */
  private async endHidden(client: GoogleClient, place: NodeRef['place'], nodeToken: string): Promise<boolean> {
    const [project, zone] = [projectOf(place), zoneOf(place)];
    const done = await doings(client, project, zone, `${nodeName(nodeToken)}-`);
    const ended = new Set(done.filter(({ type }) => type === 'delete').map(({ machine }) => machine));
    let any = false;
    for (const one of done) {
      if (one.type !== 'insert' || one.fault || ended.has(one.machine) || !isRecent(one.at)) continue;
      const target = { project, zone, instance: one.machine };
      const found =
        one.done && (await unlessBusy(() => client.call((api, options) => api.instances.delete(target, options))));
      any ||= found || !one.done;
    }
    return any;
  }

  private async ownedMachines(
    client: GoogleClient,
    installationId: string,
    place: NodeRef['place'],
  ): Promise<Machine[]> {
    const machines = await regionMachines(client, place, installationFilter(installationId));
    return machines.filter(({ owner }) => owner.installationId === installationId);
  }

  private deleteMachine(client: GoogleClient, place: NodeRef['place'], { name, where }: Machine): Promise<boolean> {
    const target = { project: projectOf(place), zone: where, instance: name };
    return unlessBusy(() => client.call((api, options) => api.instances.delete(target, options)));
  }

  private deleteLeftOver(client: GoogleClient, place: NodeRef['place'], one: LeftOver): Promise<boolean> {
    const { kind, name, where } = one;
    const project = projectOf(place);
    return unlessBusy(() =>
      client.call((api, options) =>
        kind === 'disk'
          ? api.disks.delete({ project, zone: where, disk: name }, options)
          : api.addresses.delete({ project, region: where, address: name }, options),
      ),
    );
  }
}

/** A machine that stands still: by a request, for want of a place for it, or because Google took it back. */
function stoppedNode(machine: Machine, done: readonly Doing[]): ProviderNode {
  const node = nodeFrom(machine);
  const start = done.find(({ type }) => type === 'start');
  if (start && !start.done) return { ...node, state: 'pending' };
  const taken = done.find(({ type }) => type === PREEMPTED);
  if (machine.isSpot && taken && isLater(taken.at, machine.startedAt ?? machine.createdAt))
    return { ...node, state: 'interrupted', fault: interruption(taken.words) };
  return start?.fault && isLater(start.at, machine.stoppedAt) ? { ...node, fault: start.fault } : node;
}

function interruption(words: string): ComputeDriverError {
  const { message } = googleFault({ status: null, code: PREEMPTED, message: words || 'Google took it back' }, []);
  return new ComputeDriverError('GOOGLE.PREEMPTED', message, { kind: 'capacity', scope: 'zone' });
}

/** Later, a machine is listed or it is not there. */
const HIDDEN_AT_MOST_MS = 600_000;

function isRecent(date: Date | null): boolean {
  return date !== null && Date.now() - date.getTime() < HIDDEN_AT_MOST_MS;
}

function isLater(one: Date | null, other: Date | null): boolean {
  return one !== null && (other === null || one >= other);
}

/** @throws ComputeDriverError for a machine that has the name of the node's and is somebody else's */
function owned(machine: Machine, { labels, attempt }: NodeSpec): Machine {
  const { owner, name } = machine;
  const same = owner.installationId === labels.installationId && owner.nodeToken === labels.nodeToken;
  if (same && owner.attempt === attempt && name === machineName(labels.nodeToken, attempt)) return machine;
  throw invalidInput('FOREIGN_MACHINE', `There is a machine ${name} already, which is not the node's.`);
}

function absent(labels: ProviderNode['labels'], state: ProviderNode['state']): ProviderNode {
  return { labels, providerRef: '', state, privateIp: null, publicIp: null, createdAt: null, fault: null };
}

function nameOf({ nodeToken, attempt }: NodeRef): string {
  return machineName(nodeToken, attempt);
}

/** An answer may have machines that nobody asked for. */
function machineFor(ref: NodeRef, machines: ReadonlyMap<string, Machine>): Machine | undefined {
  const found = machines.get(nameOf(ref));
  return found?.owner.nodeToken === ref.nodeToken ? found : undefined;
}

function placeOf({ place }: NodeRef): { project: string; zone: string } {
  return { project: projectOf(place), zone: zoneOf(place) };
}

function swept<One extends Pick<Machine, 'owner' | 'createdAt'>>(found: One) {
  return { found, nodeToken: found.owner.nodeToken, createdAt: found.createdAt };
}

function of(nodeToken: string): (one: Pick<Machine, 'owner'>) => boolean {
  return ({ owner }) => owner.nodeToken === nodeToken;
}

function chunks<One>(all: readonly One[], size: number): One[][] {
  const count = Math.ceil(all.length / size);
  return Array.from({ length: count }, (_, index) => all.slice(index * size, (index + 1) * size));
}

function isFault(error: unknown, ...codes: string[]): boolean {
  return error instanceof ComputeDriverError && codes.some((code) => error.code === `GOOGLE.${code}`);
}

/**
 * To be gone, or busy with something else, is no failure of what ends a machine: its caller looks again. Says whether it is
 * there.
 */
async function unlessBusy(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    if (isFault(error, 'notFound')) return false;
    if (!isFault(error, 'resourceNotReady', 'resourceInUseByAnotherResource')) throw error;
    return true;
  }
}
