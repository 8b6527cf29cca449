import type { VirtualMachine } from '@azure/arm-compute';
import type { CloudDriverOptions } from '../cloud-driver';
import { ComputeDriverError, type DriverContext, type NodeSpec } from '../compute-driver';
import { grouped } from '../grouped';
import { addressOf, dateOf } from '../machines/response-values';
import { mapConcurrently } from '../machines/map-concurrently';
import { readPages } from '../machines/calls';
import type { Cloud, CloudPort, ErrorClass, Leftover, Machine, NodeQuery } from '../machines/cloud-port';
import { MachineDriver } from '../machines/machine-driver';
import { foreignMachine } from '../machines/machine-faults';
import type { Place } from '../place';
import { invalidRequest, isInUse } from './azure-faults';
import { isPartName, machineIn, ownerIn, type Resource } from './azure-machine';
import { groupOf, nodeNames, type NodeRequests, nodeRequests } from './azure-requests';
import { type AzureEndpoints, type AzureSession, AzureSessions, type CallOptions } from './azure-session';

export type AzureDriverOptions = CloudDriverOptions & Pick<AzureEndpoints, 'authority' | 'ca'>;

const MAX_LISTED = 200_000;
const MAX_PAGES = 5_000;
const MAX_CONCURRENT_LOOKUPS = 8;
/** No VM size has more data disks. */
const MAX_DISKS = 64;

/** Codes for a machine whose name exists already. */
const EXISTS: ReadonlySet<string> = new Set([
  'AZURE.PreconditionFailed',
  'AZURE.PropertyChangeNotAllowed',
  'AZURE.ResourceExists',
  'AZURE.HTTP 412',
]);

type Kind = 'card' | 'address' | 'disk';

/** A resource of a node besides its machine. */
interface Part {
  kind: Kind;
  name: string;
}

interface ListedPart extends Part {
  nodeToken: string;
  /** Azure reports it for disks only. */
  createdAt: Date | null;
}

class AzureCloud implements Cloud {
  readonly name = 'azure';
  readonly title = 'Azure';
  readonly notice = 'azure';
  /** A deallocated spot machine counts as evicted, which is right only because the platform never stops spot machines. */
  readonly canStopSpot = false;
  readonly canRelaunchAttempt = true;
  readonly hasLeftoversWithoutAge = true;
  private readonly sessions: AzureSessions;

  constructor(options: AzureDriverOptions) {
    this.sessions = new AzureSessions(options.outbound, options);
  }

  open(place: Place, context: DriverContext, secrets: readonly string[]): AzurePort {
    return new AzurePort(this.sessions.sessionFor(context).withSecrets(secrets), groupOf(place), context);
  }
}

class AzurePort implements CloudPort {
  constructor(
    private readonly session: AzureSession,
    private readonly group: string,
    private readonly context: DriverContext,
  ) {}

  prepareLaunch(spec: NodeSpec, script: string): () => Promise<Machine> {
    const requests = nodeRequests(spec, script, this.session.subscription);
    return () => this.sendRequests(requests);
  }

  async find(sought: readonly NodeQuery[]): Promise<Machine[]> {
    const found = await mapConcurrently(sought, async ({ nodeToken }) => {
      const { machine: name } = nodeNames(nodeToken);
      const machine = await this.findOrNull((options) =>
        this.session.compute.virtualMachines.get(this.group, name, { ...options, expand: 'instanceView' }),
      );
      if (machine === null) return null;
      if (ownerIn(machine)?.nodeToken !== nodeToken) throw foreignMachine('Azure', name);
      return this.machineIn(machine);
    });
    return found.filter((machine) => machine !== null);
  }

  async listOwned(installationId: string): Promise<Machine[]> {
    const machines = await this.readList(
      (options) => this.session.compute.virtualMachines.list(this.group, options),
      (machine) => this.machineIn(machine),
    );
    return machines.filter(({ owner }) => owner.installationId === installationId);
  }

  loadDetails(machines: readonly Machine[]): Promise<Machine[]> {
    return mapConcurrently(machines, async (machine) => {
      const card = await this.card(nodeNames(machine.owner.nodeToken).card);
      const { privateIPAddress, publicIPAddress } = card?.ipConfigurations?.[0] ?? {};
      return {
        ...machine,
        privateIp: addressOf(privateIPAddress),
        publicIp: addressOf(publicIPAddress?.ipAddress),
      };
    });
  }

  start({ owner }: Machine): Promise<void> {
    const { machine: name } = nodeNames(owner.nodeToken);
    return this.submit((options) => this.session.compute.virtualMachines.start(this.group, name, options));
  }

  stop({ owner }: Machine): Promise<void> {
    const { machine: name } = nodeNames(owner.nodeToken);
    return this.submit((options) => this.session.compute.virtualMachines.deallocate(this.group, name, options));
  }

  /** Azure deletes network interfaces, addresses and disks with their machine, as their deleteOption says. */
  async terminate(machines: readonly Machine[]): Promise<void> {
    for (const { owner } of machines)
      await this.submit((options) =>
        this.session.compute.virtualMachines.delete(this.group, nodeNames(owner.nodeToken).machine, {
          ...options,
          forceDeletion: true,
        }),
      );
  }

  async leftoversOfNode(nodeToken: string): Promise<Leftover[]> {
    const { compute, network } = this.session;
    const names = nodeNames(nodeToken);
    const disk = async (name: string) => ({
      ...{ kind: 'disk' as const, name },
      resource: await this.findOrNull((options) => compute.disks.get(this.group, name, options)),
    });
    const [card, address, bootDisk] = await Promise.all([
      this.card(names.card),
      this.findOrNull((options) => network.publicIPAddresses.get(this.group, names.address, options)),
      disk(names.bootDisk),
    ]);
    const own: (Part & { resource: Resource | null })[] = [
      { kind: 'card', name: names.card, resource: card },
      { kind: 'address', name: names.address, resource: address },
      bootDisk,
    ];
    for (let first = 0; first < MAX_DISKS; first += MAX_CONCURRENT_LOOKUPS) {
      const disks = await Promise.all(
        Array.from({ length: MAX_CONCURRENT_LOOKUPS }, (_, at) => disk(names.disk(first + at))),
      );
      own.push(...disks);
      // One missing disk does not end the search, because some disks may be removed before others.
      if (disks.every(({ resource }) => resource === null)) break;
    }
    const parts = own.filter(({ resource }) => resource !== null && ownerIn(resource)?.nodeToken === nodeToken);
    return parts.length === 0 ? [] : [{ nodeToken, createdAt: null, remove: () => this.removeParts(parts) }];
  }

  /** Returns one leftover per node for all its resources. It is as old as the youngest disk. */
  async leftoversOfInstallation(installationId: string): Promise<Leftover[]> {
    const { group } = this;
    const { compute, network } = this.session;
    const partIn =
      (kind: Kind) =>
      (resource: Resource & { timeCreated?: unknown }): ListedPart | null => {
        const owner = ownerIn(resource);
        const { name, timeCreated } = resource;
        if (owner?.installationId !== installationId || !isPartName(name)) return null;
        return { kind, name, nodeToken: owner.nodeToken, createdAt: dateOf(timeCreated) };
      };
    const found = await Promise.all([
      this.readList((options) => network.networkInterfaces.list(group, options), partIn('card')),
      this.readList((options) => network.publicIPAddresses.list(group, options), partIn('address')),
      this.readList((options) => compute.disks.listByResourceGroup(group, options), partIn('disk')),
    ]);
    return [...grouped(found.flat(), ({ nodeToken }) => nodeToken)].map(([nodeToken, parts]) => {
      const times = parts.flatMap(({ createdAt }) => (createdAt === null ? [] : [createdAt.getTime()]));
      const createdAt = times.length === 0 ? null : new Date(Math.max(...times));
      return { nodeToken, createdAt, remove: () => this.removeParts(parts) };
    });
  }

  classify({ code }: ComputeDriverError): ErrorClass | null {
    return EXISTS.has(code) ? 'exists' : null;
  }

  private machineIn(machine: VirtualMachine): Machine | null {
    const { subscription, secrets } = this.session;
    return machineIn(machine, `/subscriptions/${subscription}/resourceGroups/${this.group}`, secrets);
  }

  /** Sends the requests in order, because each refers to resources of those before. All of them may be repeated. */
  private async sendRequests({ group, names, address, card, disks, machine }: NodeRequests): Promise<Machine> {
    const { compute, network } = this.session;
    if (address)
      await this.call((options) =>
        network.publicIPAddresses.beginCreateOrUpdate(group, names.address, address, options),
      );
    await this.call((options) => network.networkInterfaces.beginCreateOrUpdate(group, names.card, card, options));
    for (const { name, disk } of disks)
      await this.submit((options) => compute.disks.createOrUpdate(group, name, disk, options));
    await this.submit((options) =>
      // Without it, Azure would treat the request of another attempt as a change of the machine.
      compute.virtualMachines.createOrUpdate(group, names.machine, machine, { ...options, ifNoneMatch: '*' }),
    );
    const made = this.machineIn({ ...machine, name: names.machine, provisioningState: 'Creating' });
    if (made === null) throw unreadableResponse();
    return made;
  }

  private card(name: string) {
    const expand = 'ipConfigurations/publicIPAddress';
    return this.findOrNull((options) =>
      this.session.network.networkInterfaces.get(this.group, name, { ...options, expand }),
    );
  }

  /**
   * Removes parts. An address can be removed only after its network interface, so the next call removes it. A part that cannot
   * be removed does not stop the others; a part that is still in use is left to the next call.
   */
  private async removeParts(parts: readonly Part[]): Promise<void> {
    const { group } = this;
    const { compute, network } = this.session;
    const hasCard = parts.some(({ kind }) => kind === 'card');
    const failures: ComputeDriverError[] = [];
    for (const { kind, name } of parts)
      try {
        if (kind === 'card') await this.call((options) => network.networkInterfaces.beginDelete(group, name, options));
        else if (kind === 'disk') await this.submit((options) => compute.disks.delete(group, name, options));
        else if (!hasCard) await this.call((options) => network.publicIPAddresses.beginDelete(group, name, options));
      } catch (error) {
        if (!(error instanceof ComputeDriverError) || this.context.signal.aborted) throw error;
        if (!isInUse(error)) failures.push(error);
      }
    const [failure] = failures;
    if (failure) throw failure;
  }

  /** Reads all pages of a list and keeps only what `read` returns. */
  private readList<T, R>(
    list: (options: CallOptions) => { byPage(): AsyncIterableIterator<T[]> },
    read: (one: T) => R | null,
  ): Promise<R[]> {
    const words = `The resource group ${this.group} has more than ${MAX_LISTED} resources of one kind, or the list never ends.`;
    let pages: AsyncIterableIterator<T[]> | null = null;
    return readPages(
      { pages: MAX_PAGES, items: MAX_LISTED, exceeded: () => invalidRequest(words) },
      async () => {
        const page: IteratorResult<T[], unknown> | null = await this.findOrNull((options) => {
          pages ??= list(options).byPage();
          return pages.next();
        });
        if (page === null || page.done) return { items: [], next: null };
        if (!Array.isArray(page.value)) throw unreadableResponse();
        // The SDK keeps the page token itself.
        return { items: page.value, next: 'next' };
      },
      read,
    );
  }

  private call<T>(send: (options: CallOptions) => Promise<T>): Promise<T> {
    return this.session.call(this.context, send);
  }

  /** Returns null if the resource does not exist. */
  private findOrNull<T>(send: (options: CallOptions) => Promise<T>): Promise<T | null> {
    return this.session.find(this.context, send);
  }

  /** Starts an operation and waits only until Azure has accepted it. */
  private async submit(begin: (options: CallOptions) => { submitted(): Promise<void> }): Promise<void> {
    await this.call((options) => begin(options).submitted());
  }
}

function unreadableResponse(): ComputeDriverError {
  return new ComputeDriverError('AZURE.ANSWER', 'Azure returned something else than a machine.', {
    kind: 'transient',
  });
}

/** Runs nodes on Azure's virtual machines. */
export class AzureDriver extends MachineDriver<Machine> {
  constructor(options: AzureDriverOptions) {
    super(new AzureCloud(options), options.bootScript);
  }
}
