import type { models } from 'oci-core';
import type { CloudDriverOptions } from '../cloud-driver';
import { ComputeDriverError, type DriverContext, type NodeSpec } from '../compute-driver';
import { addressOf, dateOf } from '../machines/response-values';
import { mapConcurrently } from '../machines/map-concurrently';
import type { Cloud, CloudPort, ErrorClass, Leftover, NodeQuery } from '../machines/cloud-port';
import { MachineDriver } from '../machines/machine-driver';
import { unexpectedResponse } from '../call-faults';
import type { Place } from '../place';
import { isOcid, OciConnection, ociKeys, textOf } from './oci-connection';
import { isBusy, isMissing } from './oci-faults';
import { assertLaunchable, launchDetails, machineName, unsupportedNode, retryToken, tokenInName } from './oci-launch';
import { ENDED_BY_PLATFORM, machineIn, type OciMachine } from './oci-machine';
import { resolvePlace } from './oci-place';

/** More nodes are not looked up one by one; all machines of the compartment are listed instead. */
const MAX_SINGLE_LOOKUPS = 8;

type Addresses = Pick<OciMachine, 'privateIp' | 'publicIp'>;

type Volume = Pick<models.BootVolume, 'id' | 'displayName' | 'timeCreated'> & { lifecycleState: string };

interface Disk {
  id: string;
  nodeToken: string;
  createdAt: Date | null;
  kind: 'volume' | 'boot volume';
}

/** Oracle Cloud in the compartment of a place, or else in that of the credentials. */
class OciCloud implements Cloud<OciMachine> {
  readonly name = 'oci';
  readonly title = 'Oracle Cloud';
  /** Oracle Cloud does not announce preemptions to machines. */
  readonly notice = null;
  /** A preemptible instance can only be terminated. */
  readonly canStopSpot = false;
  /** Oracle Cloud refuses a repeated request for 24 hours once its machine has ended. */
  readonly canRelaunchAttempt = false;

  constructor(private readonly options: CloudDriverOptions) {}

  open({ region, account }: Place, { credentials, signal }: DriverContext, secrets: readonly string[]): OciPort {
    if (region === null)
      throw unsupportedNode(
        'neither its cloud environment nor its network names an availability domain, from which the region follows',
      );
    if (account !== null && !isOcid(account))
      throw unsupportedNode('the cloud project of its environment is not the OCID of a compartment');
    const keys = ociKeys(credentials);
    const { endpoint, outbound } = this.options;
    const oci = new OciConnection({ keys, region, endpoint, agents: outbound.agents, signal, secrets });
    return new OciPort(oci, account ?? oci.compartment);
  }
}

class OciPort implements CloudPort<OciMachine> {
  constructor(
    private readonly oci: OciConnection,
    private readonly compartmentId: string,
  ) {}

  prepareLaunch(spec: NodeSpec, script: string): () => Promise<OciMachine> {
    assertLaunchable(spec);
    const { oci, compartmentId } = this;
    return async () => {
      const place = await resolvePlace(spec.place, oci, compartmentId);
      const launchInstanceDetails = launchDetails(spec, place, compartmentId, script);
      const { instance } = await oci.compute((client) =>
        client.launchInstance({ launchInstanceDetails, opcRetryToken: retryToken(spec) }),
      );
      const made = machineIn(instance);
      if (made) return made;
      throw unexpectedResponse('Oracle Cloud', 'returned another machine than the requested one');
    };
  }

  async find(sought: readonly NodeQuery[]): Promise<OciMachine[]> {
    if (sought.length > MAX_SINGLE_LOOKUPS) return this.machines();
    return (await mapConcurrently(sought, ({ nodeToken }) => this.machinesOf(nodeToken))).flat();
  }

  async listOwned(installationId: string): Promise<OciMachine[]> {
    return (await this.machines()).filter(({ owner }) => owner.installationId === installationId);
  }

  async loadDetails(machines: readonly OciMachine[]): Promise<OciMachine[]> {
    const running = machines.filter(({ phase }) => phase === 'running').map(({ id }) => id);
    const addresses = await this.addresses(running);
    return mapConcurrently(machines, async (machine) => {
      // Only the work request has the reason why a machine never came up.
      const isUnexplained = machine.phase === 'over' && !machine.isEndedByPlatform;
      const fault = isUnexplained ? await this.oci.launchFault(machine.id) : null;
      return fault ? { ...machine, end: 'failed', fault } : { ...machine, ...addresses.get(machine.id) };
    });
  }

  start({ id: instanceId }: OciMachine): Promise<unknown> {
    return this.oci.compute((client) => client.instanceAction({ instanceId, action: 'START' }));
  }

  async stop({ id: instanceId, lifecycle }: OciMachine): Promise<void> {
    if (lifecycle === 'RUNNING')
      await this.oci.compute((client) => client.instanceAction({ instanceId, action: 'SOFTSTOP' }));
  }

  async terminate(machines: readonly OciMachine[]): Promise<void> {
    const nothing = { preserveBootVolume: false, preserveDataVolumesCreatedAtLaunch: false };
    for (const machine of machines) {
      if (machine.isSpot && !machine.isEndedByPlatform) await this.dismissEnd(machine);
      try {
        await this.oci.compute((client) => client.terminateInstance({ instanceId: machine.id, ...nothing }));
      } catch (error) {
        // The response is the same for a machine that is gone and for one that the user may not terminate. If it is still listed,
        // it is not gone.
        if (!isMissing(error) || (await this.isListed(machine))) throw error;
      }
    }
  }

  /** Marks the machine as ended by the platform. Goes on without the mark if Oracle Cloud refuses it. */
  async dismissEnd({ id: instanceId }: OciMachine): Promise<void> {
    try {
      const updateInstanceDetails = { extendedMetadata: ENDED_BY_PLATFORM };
      await this.oci.compute((client) => client.updateInstance({ instanceId, updateInstanceDetails }));
    } catch (error) {
      if (!(error instanceof ComputeDriverError) || error.kind === 'throttled') throw error;
    }
  }

  async leftoversOfNode(nodeToken: string): Promise<Leftover[]> {
    return (await this.disksOf(nodeToken)).map((disk) => this.leftover(disk));
  }

  /** Disks of terminated machines have no tags, only the name of their machine, which is listed for some time. */
  async leftoversOfInstallation(_installationId: string, machines: readonly OciMachine[]): Promise<Leftover[]> {
    const ended = new Set(machines.filter(({ phase }) => phase === 'over').map(({ owner }) => owner.nodeToken));
    if (ended.size === 0) return [];
    const { oci, compartmentId } = this;
    const volumes = await oci.readAll(
      (page) => oci.disks((client) => client.listVolumes({ compartmentId, ...page })),
      (volume) => diskIn(volume, 'volume'),
    );
    const boot = await oci.readAll(
      (page) => oci.disks((client) => client.listBootVolumes({ compartmentId, ...page })),
      (volume) => diskIn(volume, 'boot volume'),
    );
    return [...volumes, ...boot].filter(({ nodeToken }) => ended.has(nodeToken)).map((disk) => this.leftover(disk));
  }

  classify(error: ComputeDriverError): ErrorClass | null {
    return isBusy(error) ? 'busy' : null;
  }

  /** Lists the machines of the node, including terminated ones that are still listed. */
  private machinesOf(nodeToken: string): Promise<OciMachine[]> {
    return this.machines({ displayName: encodeURIComponent(machineName(nodeToken)) });
  }

  private machines(filter: { displayName?: string } = {}): Promise<OciMachine[]> {
    const { oci, compartmentId } = this;
    return oci.readAll(
      (page) => oci.compute((client) => client.listInstances({ compartmentId, ...filter, ...page })),
      machineIn,
    );
  }

  private async isListed({ id, owner }: OciMachine): Promise<boolean> {
    return (await this.machinesOf(owner.nodeToken)).some((one) => one.id === id && one.phase !== 'over');
  }

  private async addresses(instanceIds: readonly string[]): Promise<Map<string, Addresses>> {
    const { oci, compartmentId } = this;
    const addresses = new Map<string, Addresses>();
    if (instanceIds.length === 0) return addresses;
    const attachments = await oci.listAll((page) =>
      oci.compute((client) =>
        client.listVnicAttachments({
          ...{ compartmentId, ...page },
          ...(instanceIds.length === 1 ? { instanceId: instanceIds[0] } : {}),
        }),
      ),
    );
    const wanted = new Set(instanceIds);
    const cards = attachments.flatMap(({ instanceId, vnicId, lifecycleState }) =>
      wanted.has(instanceId) && isOcid(vnicId) && String(lifecycleState) === 'ATTACHED' ? [{ instanceId, vnicId }] : [],
    );
    for (let at = 0; at < cards.length; at += MAX_SINGLE_LOOKUPS)
      await Promise.all(
        cards.slice(at, at + MAX_SINGLE_LOOKUPS).map(async ({ instanceId, vnicId }) => {
          const vnic = await this.vnic(vnicId);
          if (vnic && (vnic.isPrimary !== false || !addresses.has(instanceId)))
            addresses.set(instanceId, { privateIp: addressOf(vnic.privateIp), publicIp: addressOf(vnic.publicIp) });
        }),
      );
    return addresses;
  }

  /** Returns null if the network interface is gone meanwhile. */
  private async vnic(vnicId: string): Promise<models.Vnic | null> {
    try {
      return (await this.oci.network((client) => client.getVnic({ vnicId }))).vnic;
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  private async disksOf(nodeToken: string): Promise<Disk[]> {
    const { oci, compartmentId } = this;
    const displayName = encodeURIComponent(machineName(nodeToken));
    const disks = await oci.readAll(
      (page) => oci.disks((client) => client.listVolumes({ compartmentId, displayName, ...page })),
      (volume) => diskIn(volume, 'volume'),
    );
    return disks.filter((disk) => disk.nodeToken === nodeToken);
  }

  private leftover({ id, kind, nodeToken, createdAt }: Disk): Leftover {
    const remove = async (): Promise<void> => {
      try {
        if (kind === 'volume') await this.oci.disks((client) => client.deleteVolume({ volumeId: id }));
        else await this.oci.disks((client) => client.deleteBootVolume({ bootVolumeId: id }));
      } catch (error) {
        const isThere = async () => (await this.disksOf(nodeToken)).some((one) => one.id === id);
        if (!isMissing(error) || (kind === 'volume' && (await isThere()))) throw error;
      }
    };
    return { nodeToken, createdAt, remove };
  }
}

function diskIn({ id, displayName, lifecycleState, timeCreated }: Volume, kind: Disk['kind']): Disk | null {
  const nodeToken = tokenInName(textOf(displayName) ?? '');
  if (nodeToken === null || !isOcid(id) || lifecycleState === 'TERMINATED') return null;
  return { id, nodeToken, createdAt: dateOf(timeCreated), kind };
}

/** Runs nodes on instances of Oracle Cloud. */
export class OciDriver extends MachineDriver<OciMachine> {
  constructor(options: CloudDriverOptions) {
    super(new OciCloud(options), options.bootScript);
  }
}
