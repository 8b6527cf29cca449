import { isIP } from 'node:net';
import type { models } from 'oci-core';
import type { CloudDriverOptions } from '../cloud-driver';
import {
  type ComputeDriver,
  ComputeDriverError,
  goneNode,
  type DriverContext,
  type Market,
  type NodeRef,
  type NodeSpec,
  type OwnedScope,
  type ProviderNode,
  type Swept,
  type SweepScope,
} from '../compute-driver';
import { grouped } from '../grouped';
import type { Place } from '../place';
import { both, sweepFound } from '../sweep';
import { isOcid, OciConnection, ociKeys, textOf } from './oci-connection';
import { isBusy, isMissing } from './oci-faults';
import { assertLaunchable, launchDetails, machineName, refused, retryToken, tokenInName } from './oci-launch';
import { dateIn, ENDED, isOver, machineIn, type OciMachine, shown, stateOf, takenBack } from './oci-machine';
import { resolvePlace } from './oci-place';

/** Up to so many nodes are asked for one by one; of more, all machines of the compartment are listed. */
const FEW = 8;

type Addresses = Pick<ProviderNode, 'privateIp' | 'publicIp'>;

interface Call {
  oci: OciConnection;
  compartmentId: string;
}

type Volume = Pick<models.BootVolume, 'id' | 'displayName' | 'timeCreated'> & { lifecycleState: string };

interface Leftover {
  id: string;
  nodeToken: string;
  createdAt: Date | null;
  kind: 'volume' | 'boot volume';
}

/** Nodes as instances of Oracle Cloud, in the compartment that the credentials name. */
export class OciDriver implements ComputeDriver {
  readonly name = 'oci';

  constructor(private readonly options: CloudDriverOptions) {}

  async provision(spec: NodeSpec, context: DriverContext): Promise<ProviderNode> {
    const { nodeToken } = spec.labels;
    // Oracle Cloud tells no machine that it will be taken back.
    const script = this.options.bootScript(spec, null);
    assertLaunchable(spec);
    const secrets = [spec.boot.bootstrapToken, Buffer.from(script).toString('base64')];
    const { oci, compartmentId } = this.callTo(spec.place, context, secrets);
    const machines = await named(nodeToken, { oci, compartmentId });
    const living = machines.find((machine) => !isOver(machine));
    if (living?.attempt === spec.attempt) return shown(living);
    if (living) throw another(living);
    const before = machines.find(({ attempt }) => attempt === spec.attempt);
    if (before)
      throw (await failedLaunch(before, oci)) ?? (stateOf(before) === 'interrupted' ? takenBack() : endedBefore());
    const place = await resolvePlace(spec.place, oci, compartmentId);
    const launchInstanceDetails = launchDetails(spec, place, compartmentId, script);
    const { instance } = await oci.compute((client) =>
      client.launchInstance({ launchInstanceDetails, opcRetryToken: retryToken(spec) }),
    );
    return shown(ours(instance, nodeToken));
  }

  async describe(refs: readonly NodeRef[], context: DriverContext): Promise<ProviderNode[]> {
    const byToken = new Map<string, ProviderNode>();
    for (const [, group] of grouped(refs, ({ place }) => JSON.stringify([place.region, place.account]))) {
      const call = this.callTo(group[0].place, context);
      const machines =
        group.length <= FEW
          ? (await Promise.all(group.map(({ nodeToken }) => named(nodeToken, call)))).flat()
          : await allMachines(call);
      const chosen = group.map((ref) => ({ ref, machine: bestOf(machines, ref) }));
      const running = chosen.flatMap(({ machine }) => (machine && stateOf(machine) === 'running' ? [machine.id] : []));
      const addresses = await addressesOf(running, call);
      for (const { ref, machine } of chosen)
        byToken.set(ref.nodeToken, machine ? await told(machine, addresses, call) : goneNode(ref.nodeToken));
    }
    return refs.map((ref) => byToken.get(ref.nodeToken) ?? goneNode(ref.nodeToken));
  }

  /** A preemptible instance can only be ended. */
  canStop({ market }: { market: Market; type: string }): boolean {
    return market !== 'spot';
  }

  async stop(ref: NodeRef, context: DriverContext): Promise<'stopped' | 'stopping'> {
    const call = this.callTo(ref.place, context);
    const machine = (await named(ref.nodeToken, call)).find((one) => !isOver(one));
    if (!machine || machine.lifecycle === 'STOPPED') return 'stopped';
    if (machine.spot) throw refused('a preemptible machine cannot be stopped');
    if (machine.lifecycle === 'RUNNING') await act(machine, 'SOFTSTOP', call);
    return 'stopping';
  }

  async start(ref: NodeRef, context: DriverContext): Promise<ProviderNode> {
    const call = this.callTo(ref.place, context);
    const machines = await named(ref.nodeToken, call);
    const machine = bestOf(machines, ref);
    if (!machine || isOver(machine) || machine.lifecycle === 'TERMINATING') {
      if (machine && stateOf(machine) === 'interrupted') throw takenBack();
      throw new ComputeDriverError('NodeGone', 'Oracle Cloud has no machine of this node to start.', {
        kind: 'invalid',
      });
    }
    if (machine.lifecycle === 'STOPPED') return shown((await act(machine, 'START', call)) ?? machine);
    if (machine.lifecycle === 'STOPPING')
      throw new ComputeDriverError('IncorrectState', 'The machine is still stopping.', { kind: 'transient' });
    return shown(machine);
  }

  async destroy(
    { nodeToken, place }: Pick<NodeRef, 'nodeToken' | 'place'>,
    context: DriverContext,
  ): Promise<'gone' | 'going'> {
    const call = this.callTo(place, context);
    return end(nodeToken, await named(nodeToken, call), call);
  }

  async listOwned({ installationId, place }: OwnedScope, context: DriverContext): Promise<ProviderNode[]> {
    const machines = await allMachines(this.callTo(place, context));
    return machines
      .filter((one) => one.labels.installationId === installationId && !isOver(one))
      .map((one) => shown(one));
  }

  async sweep(scope: SweepScope, context: DriverContext): Promise<Swept> {
    const call = this.callTo(scope.place, context);
    const own = (await allMachines(call)).filter(({ labels }) => labels.installationId === scope.installationId);
    const living = own.filter((machine) => !isOver(machine) && machine.lifecycle !== 'TERMINATING');
    // By what was listed: a machine that somebody renamed is found by its tags only.
    const ended = await sweepFound(living.map(swept), scope, context, {
      remove: async ([one]) => one && (await endMachine(one.machine, call)),
    });
    const left = leftBehind(grouped(own, ({ labels }) => labels.nodeToken));
    if (left.size === 0) return ended;
    // Disks of machines that have ended bear no tags, but the name of a machine, which is listed for some time.
    const disks = (await allDisks(call)).filter(({ nodeToken }) => left.has(nodeToken));
    const removed = await sweepFound(disks, scope, context, {
      remove: async ([disk]) => disk && (await removeDisk(disk, call)),
    });
    return both(ended, removed);
  }

  private callTo({ region, account }: Place, { credentials, signal }: DriverContext, secrets: string[] = []): Call {
    if (region === null)
      throw refused('its cloud environment or network names no availability domain, which says its region');
    if (account !== null && !isOcid(account)) throw refused('its compartment is not an OCID');
    const keys = ociKeys(credentials);
    const { endpoint, outbound } = this.options;
    const oci = new OciConnection({ keys, region, endpoint, agents: outbound.agents, signal, secrets });
    return { oci, compartmentId: account ?? oci.compartment };
  }
}

/** Machines of the node, those that have ended among them as long as they are listed. */
async function named(nodeToken: string, { oci, compartmentId }: Call): Promise<OciMachine[]> {
  const displayName = encodeURIComponent(machineName(nodeToken));
  const machines = await oci.allOf(
    (page) => oci.compute((client) => client.listInstances({ compartmentId, displayName, ...page })),
    machineIn,
  );
  return machines.filter(({ labels }) => labels.nodeToken === nodeToken);
}

function allMachines({ oci, compartmentId }: Call): Promise<OciMachine[]> {
  return oci.allOf((page) => oci.compute((client) => client.listInstances({ compartmentId, ...page })), machineIn);
}

/** A machine as its node. One that was never whole has ended for a reason, which only the request for it knows. */
async function told(machine: OciMachine, addresses: ReadonlyMap<string, Addresses>, call: Call): Promise<ProviderNode> {
  const node = shown(machine, addresses.get(machine.id));
  const fault = isOver(machine) ? await failedLaunch(machine, call.oci) : null;
  return fault === null ? node : { ...node, state: 'failed', fault };
}

/** Why the machine could not be made; null for one that was made. */
async function failedLaunch({ id, ended }: OciMachine, oci: OciConnection): Promise<ComputeDriverError | null> {
  return ended ? null : oci.launchFault(id);
}

/** The machine a node has, or else the one that it had in this attempt. */
function bestOf(machines: readonly OciMachine[], { nodeToken, attempt }: NodeRef): OciMachine | null {
  const own = machines.filter(({ labels }) => labels.nodeToken === nodeToken);
  return own.find((machine) => !isOver(machine)) ?? own.find((machine) => machine.attempt === attempt) ?? null;
}

function ours(instance: models.Instance, nodeToken: string): OciMachine {
  const machine = machineIn(instance);
  if (machine?.labels.nodeToken === nodeToken) return machine;
  throw new ComputeDriverError('StrangeAnswer', 'Oracle Cloud answers with another machine than it was asked for.', {
    kind: 'transient',
  });
}

function another({ attempt }: OciMachine): ComputeDriverError {
  const message = `The machine of attempt ${attempt} is not gone yet.`;
  return new ComputeDriverError('AttemptExists', message, { kind: 'transient' });
}

/** The same request would not make another one, and gives an error for a day. */
function endedBefore(): ComputeDriverError {
  const message = 'The machine that Oracle Cloud made for this node has ended before it was used.';
  return new ComputeDriverError('MachineEnded', message, { kind: 'invalid' });
}

/** Asks for another state; null if it is just changing. */
async function act({ id: instanceId }: OciMachine, action: 'START' | 'SOFTSTOP', { oci }: Call) {
  try {
    const { instance } = await oci.compute((client) => client.instanceAction({ instanceId, action }));
    return machineIn(instance);
  } catch (error) {
    if (action === 'SOFTSTOP' && isBusy(error)) return null;
    throw error;
  }
}

/** Ends the machines of a node, and removes the disks that are left of them. */
async function end(nodeToken: string, machines: readonly OciMachine[], call: Call): Promise<'gone' | 'going'> {
  const living = machines.filter((machine) => !isOver(machine));
  for (const machine of machines) if (isOver(machine) && machine.spot && !machine.ended) await markEnded(machine, call);
  for (const machine of living) await endMachine(machine, call);
  if (living.length > 0) return 'going';
  const disks = await disksOf(nodeToken, call);
  for (const disk of disks) await removeDisk(disk, call);
  return disks.length > 0 ? 'going' : 'gone';
}

async function endMachine(machine: OciMachine, call: Call): Promise<void> {
  if (machine.spot && !machine.ended) await markEnded(machine, call);
  if (machine.lifecycle !== 'TERMINATING') await terminate(machine, call);
}

function swept(machine: OciMachine) {
  return { machine, nodeToken: machine.labels.nodeToken, createdAt: machine.createdAt };
}

/** Says that it was not taken back. It is no reason to keep the machine if Oracle Cloud does not take the note. */
async function markEnded({ id: instanceId }: OciMachine, { oci }: Call): Promise<void> {
  try {
    const updateInstanceDetails = { extendedMetadata: ENDED };
    await oci.compute((client) => client.updateInstance({ instanceId, updateInstanceDetails }));
  } catch (error) {
    if (!(error instanceof ComputeDriverError) || error.kind === 'throttled') throw error;
  }
}

async function terminate(machine: OciMachine, call: Call): Promise<void> {
  const { id: instanceId } = machine;
  const nothing = { preserveBootVolume: false, preserveDataVolumesCreatedAtLaunch: false };
  try {
    await call.oci.compute((client) => client.terminateInstance({ instanceId, ...nothing }));
  } catch (error) {
    if (isBusy(error)) return;
    // The answer is the same for what has gone and for what the user may not end. What is still listed has not gone.
    if (!isMissing(error) || (await isListed(machine, call))) throw error;
  }
}

async function isListed({ id, labels }: OciMachine, call: Call): Promise<boolean> {
  return (await named(labels.nodeToken, call)).some((one) => one.id === id && !isOver(one));
}

async function addressesOf(instanceIds: readonly string[], call: Call): Promise<Map<string, Addresses>> {
  const { oci, compartmentId } = call;
  const addresses = new Map<string, Addresses>();
  if (instanceIds.length === 0) return addresses;
  const attachments = await oci.all((page) =>
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
  for (let at = 0; at < cards.length; at += FEW)
    await Promise.all(
      cards.slice(at, at + FEW).map(async ({ instanceId, vnicId }) => {
        const vnic = await vnicOf(vnicId, call);
        if (vnic && (vnic.isPrimary !== false || !addresses.has(instanceId)))
          addresses.set(instanceId, { privateIp: addressIn(vnic.privateIp), publicIp: addressIn(vnic.publicIp) });
      }),
    );
  return addresses;
}

/** Null for one that has gone meanwhile. */
async function vnicOf(vnicId: string, { oci }: Call): Promise<models.Vnic | null> {
  try {
    return (await oci.network((client) => client.getVnic({ vnicId }))).vnic;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

function addressIn(value: unknown): string | null {
  const text = textOf(value);
  return text !== null && isIP(text) !== 0 ? text : null;
}

/** Nodes whose machines have all ended. */
function leftBehind(byToken: ReadonlyMap<string, readonly OciMachine[]>): Set<string> {
  return new Set([...byToken].filter(([, machines]) => machines.every(isOver)).map(([nodeToken]) => nodeToken));
}

async function disksOf(nodeToken: string, { oci, compartmentId }: Call): Promise<Leftover[]> {
  const displayName = encodeURIComponent(machineName(nodeToken));
  const disks = await oci.allOf(
    (page) => oci.disks((client) => client.listVolumes({ compartmentId, displayName, ...page })),
    (volume) => leftoverIn(volume, 'volume'),
  );
  return disks.filter((disk) => disk.nodeToken === nodeToken);
}

async function allDisks({ oci, compartmentId }: Call): Promise<Leftover[]> {
  const volumes = await oci.allOf(
    (page) => oci.disks((client) => client.listVolumes({ compartmentId, ...page })),
    (volume) => leftoverIn(volume, 'volume'),
  );
  const boot = await oci.allOf(
    (page) => oci.disks((client) => client.listBootVolumes({ compartmentId, ...page })),
    (volume) => leftoverIn(volume, 'boot volume'),
  );
  return [...volumes, ...boot];
}

function leftoverIn({ id, displayName, lifecycleState, timeCreated }: Volume, kind: Leftover['kind']): Leftover | null {
  const nodeToken = tokenInName(textOf(displayName) ?? '');
  if (nodeToken === null || !isOcid(id) || lifecycleState === 'TERMINATED') return null;
  return { id, nodeToken, createdAt: dateIn(timeCreated), kind };
}

async function removeDisk({ id, kind, nodeToken }: Leftover, call: Call): Promise<void> {
  const { oci } = call;
  try {
    if (kind === 'volume') await oci.disks((client) => client.deleteVolume({ volumeId: id }));
    else await oci.disks((client) => client.deleteBootVolume({ bootVolumeId: id }));
  } catch (error) {
    // Its machine is still letting it go, or it is on its way already.
    if (isBusy(error)) return;
    const isThere = async () => (await disksOf(nodeToken, call)).some((one) => one.id === id);
    if (!isMissing(error) || (kind === 'volume' && (await isThere()))) throw error;
  }
}
