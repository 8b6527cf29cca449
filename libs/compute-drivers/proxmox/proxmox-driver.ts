import { type BootScript } from '../cloud-driver';
import {
  type ComputeDriver,
  ComputeDriverError,
  goneNode,
  type DriverContext,
  type FaultKind,
  type Market,
  type NodeRef,
  type NodeSpec,
  type OwnedScope,
  type ProviderNode,
  type ProviderNodeState,
  type SweepResult,
  type SweepScope,
} from '../compute-driver';
import { mapConcurrently } from '../machines/map-concurrently';
import { machineGone, otherAttempt } from '../machines/machine-faults';
import type { Place } from '../place';
import { mergeSweepResults, removeOrphans } from '../sweep';
import { idsOf, isIdOf, nameOf, prefixOf, installationHash } from './machine-names';
import { withProvisionedMark, type MachineNote, newNote, parseNote } from './machine-note';
import { ProxmoxClient } from './proxmox-client';
import type { ProxmoxConnections } from './proxmox-connections';
import { ProxmoxError, taskFault } from './proxmox-error';
import { seedImage } from './seed-image';

export interface ProxmoxDriverOptions {
  bootScript: BootScript;
  connections: ProxmoxConnections;
}

type Json = Readonly<Record<string, unknown>>;

/** A machine in the list of all machines of the Proxmox VE cluster. */
interface ListedMachine {
  vmid: number;
  host: string;
  name: string;
  isTemplate: boolean;
  /** Status in the list, which may be some seconds old. */
  status: string;
}

/** A machine with its configuration. */
interface MachineDetails extends ListedMachine {
  config: Json;
  /** Null if the machine is not the platform's, or its description is not written yet. */
  note: MachineNote | null;
}

interface OwnedMachine {
  machine: MachineDetails;
  node: ProviderNode;
}

/** A disc image with the user data of a machine. */
interface Seed {
  host: string;
  volume: string;
  token: string;
  attempt: number;
  createdAt: Date;
}

interface Task {
  type: string;
  /** Null while the task runs, then `OK` or the error message. */
  status: string | null;
  isRunning: boolean;
}

const MAX_MACHINES = 20_000;
const MAX_CLONE_TASKS = 10_000;
/** Age up to which the failed clone task of a node is searched for. */
const CLONE_LOOKBACK_SECONDS = 3600;
const LOCKED_RETRY_MS = 5_000;
const MIB = 2 ** 20;
const HOST_NAME = /^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/;
const STORAGE_NAME = /^[A-Za-z][A-Za-z0-9._-]{0,99}$/;
const TOKEN = /^[A-Za-z0-9-]{1,80}$/;
/** A machine that takes longer to shut down is switched off. */
const SHUTDOWN_TIMEOUT_SECONDS = 30;
const LIMITS = { callMs: 30_000, overallMs: 60_000, maxBytes: 16 * MIB };

/**
 * Runs nodes on virtual machines of Proxmox VE, which are clones of a template and boot by cloud-init from a seed image.
 * A machine is provisioned in several asynchronous steps. Its description has the plan from the first step on, and each later
 * call for the machine does the next step. Concurrent calls do not conflict, because a configuration is changed only if it has
 * not changed since it was read.
 */
export class ProxmoxDriver implements ComputeDriver {
  readonly name = 'proxmox';
  /** Clone tasks by node token. If a task fails, only the task has the reason, because the machine is gone. */
  private readonly cloneTasks = new Map<string, string>();

  constructor(private readonly options: ProxmoxDriverOptions) {}

  async provision(spec: NodeSpec, context: DriverContext): Promise<ProviderNode> {
    const { labels, market, machine } = spec;
    const userData = this.options.bootScript(spec, null);
    if (market === 'spot') throw fault('SPOT', 'Proxmox VE has no spot machines. Use an on-demand machine.');
    if (machine.gpu) throw fault('GPU', 'Nodes on Proxmox VE cannot have a GPU.');
    if (!TOKEN.test(labels.nodeToken))
      throw fault('TOKEN', 'The token of the node cannot be part of the name of a machine.');
    const cluster = this.open(context);
    const all = await cluster.machines();
    const found = await cluster.ofNode(labels.nodeToken, all);
    if (found) {
      const { attempt = null } = found.note?.owner ?? (await cluster.seedOf(labels.nodeToken)) ?? {};
      if (attempt !== spec.attempt) throw otherAttempt(attempt);
      return cluster.continueProvisioning(found, labels.nodeToken);
    }
    const vmid = idsOf(labels.nodeToken).find((id) => !all.has(id));
    if (vmid === undefined)
      throw fault(
        'NO_ID',
        `Other machines have all ids that this node could get: ${idsOf(labels.nodeToken).join(', ')}.`,
      );
    this.recordClone(labels.nodeToken, await cluster.create(vmid, spec, userData, all));
    return pending(spec, vmid);
  }

  async describe(refs: readonly NodeRef[], context: DriverContext): Promise<ProviderNode[]> {
    if (refs.length === 0) return [];
    const cluster = this.open(context);
    const all = await cluster.machines();
    const nodes = await mapConcurrently(refs, async ({ nodeToken }) => {
      const found = await cluster.ofNode(nodeToken, all);
      return found ? cluster.continueProvisioning(found, nodeToken) : goneNode(nodeToken);
    });
    const expected = refs.filter((ref, index) => nodes[index]?.state === 'gone' && this.isRecentlyAccepted(ref));
    const failed = await cluster.failedClones(expected, this.cloneTasks);
    return nodes.map((node) => {
      const why = failed.get(node.labels.nodeToken);
      return why === undefined ? node : { ...node, state: 'failed', fault: why };
    });
  }

  canStop(_machine: { market: Market; type: string }): boolean {
    return true;
  }

  async stop({ nodeToken }: NodeRef, context: DriverContext): Promise<'stopped' | 'stopping'> {
    const cluster = this.open(context);
    const found = await cluster.ofNode(nodeToken, await cluster.machines());
    if (!found) return 'stopped';
    if (found.note === null || isLocked(found)) return 'stopping';
    // Otherwise the next call would start the machine to finish its provisioning.
    if (!found.note.isProvisioned) await cluster.markProvisioned(found);
    if (found.status === 'stopped') return (await cluster.isBusy(found)) ? 'stopping' : 'stopped';
    if (!(await cluster.isBusy(found)))
      await cluster.postAction(found, '/status/shutdown', { timeout: `${SHUTDOWN_TIMEOUT_SECONDS}`, forceStop: '1' });
    return 'stopping';
  }

  async start({ nodeToken }: NodeRef, context: DriverContext): Promise<ProviderNode> {
    const cluster = this.open(context);
    const found = await cluster.ofNode(nodeToken, await cluster.machines());
    if (!found) throw machineGone('Proxmox VE');
    if (found.note === null || isLocked(found) || found.status !== 'stopped')
      return cluster.continueProvisioning(found, nodeToken);
    if (!(await cluster.isBusy(found))) await cluster.postAction(found, '/status/start');
    return nodeOf(found, 'pending');
  }

  async destroy(
    { nodeToken }: Pick<NodeRef, 'nodeToken' | 'place'>,
    context: DriverContext,
  ): Promise<'gone' | 'going'> {
    const cluster = this.open(context);
    const found = await cluster.ofNode(nodeToken, await cluster.machines());
    this.cloneTasks.delete(nodeToken);
    if (!found) {
      await cluster.removeSeeds(nodeToken);
      return 'gone';
    }
    if (found.note === null || isLocked(found)) await cluster.assertLockIsReleased(found);
    else await cluster.terminate(found);
    return 'going';
  }

  async listOwned({ installationId }: OwnedScope, context: DriverContext): Promise<ProviderNode[]> {
    const cluster = this.open(context);
    return (await cluster.ownedMachines(installationId, await cluster.seeds(installationId))).map(({ node }) => node);
  }

  async sweep(scope: SweepScope, context: DriverContext): Promise<SweepResult> {
    const cluster = this.open(context);
    // Seeds are listed before machines, so that the seed of a machine created meanwhile is not taken for an orphan.
    const seeds = await cluster.seeds(scope.installationId);
    const machines = await cluster.ownedMachines(scope.installationId, seeds);
    const ended = await removeOrphans(machines.map(toCandidate), scope, context, {
      remove: async ([one]) => one && (await cluster.terminate(one.machine)),
    });
    const withMachine = new Set(machines.map(({ node }) => node.labels.nodeToken));
    // These are seeds whose machine was never created.
    const left = seeds
      .filter(({ token }) => !withMachine.has(token))
      .map((seed) => ({ ...seed, nodeToken: seed.token }));
    const removed = await removeOrphans(left, scope, context, {
      remove: async ([seed]) => seed && (await cluster.removeVolume(seed.host, seed.volume)),
    });
    return mergeSweepResults(ended, removed);
  }

  private recordClone(nodeToken: string, task: string | null): void {
    if (task === null) return;
    this.cloneTasks.set(nodeToken, task);
    for (const oldest of this.cloneTasks.keys()) {
      if (this.cloneTasks.size <= MAX_CLONE_TASKS) break;
      this.cloneTasks.delete(oldest);
    }
  }

  /** True if the node was requested so recently that a failed clone may be the reason why its machine is missing. */
  private isRecentlyAccepted({ nodeToken, acceptedAt }: NodeRef): boolean {
    if (this.cloneTasks.has(nodeToken)) return true;
    return acceptedAt !== null && Date.now() - acceptedAt.getTime() < CLONE_LOOKBACK_SECONDS * 1000;
  }

  private open({ endpoint, credentials, signal }: DriverContext): ProxmoxCluster {
    const { USERNAME: username = '', PASSWORD: password = '' } = credentials;
    const account = { endpoint: endpoint ?? '', username, password };
    return new ProxmoxCluster(new ProxmoxClient(this.options.connections, account, LIMITS), signal);
  }
}

/** A cluster of Proxmox VE, for one call of the driver. */
class ProxmoxCluster {
  constructor(
    private readonly client: ProxmoxClient,
    private readonly signal: AbortSignal,
  ) {}

  async machines(): Promise<Map<number, ListedMachine>> {
    const data = await this.get('/cluster/resources?type=vm');
    const listed = listOf(data).flatMap(({ vmid, node, name, template, status }): ListedMachine[] => {
      if (!Number.isSafeInteger(vmid) || typeof node !== 'string' || !HOST_NAME.test(node)) return [];
      const [isTemplate, power] = [template === 1, textOf(status)];
      return [{ vmid: vmid as number, host: node, name: textOf(name), isTemplate, status: power }];
    });
    return new Map(listed.map((one) => [one.vmid, one]));
  }

  /** Returns the machine of the node, even while it is being cloned and has no description yet. */
  async ofNode(nodeToken: string, all: ReadonlyMap<number, ListedMachine>): Promise<MachineDetails | null> {
    for (const id of idsOf(nodeToken)) {
      const listed = all.get(id);
      if (!listed) continue;
      const shown = await this.loadDetails(listed);
      if (shown === null) continue;
      if (shown.note?.owner.nodeToken === nodeToken) return shown;
      if (shown.note === null && isLocked(shown)) return shown;
    }
    return null;
  }

  /** Lists the machines of an installation, including those that are being cloned. */
  async ownedMachines(installationId: string, seeds: readonly Seed[]): Promise<OwnedMachine[]> {
    const all = await this.machines();
    // Machines on a host that is down can be neither read nor terminated.
    const online = new Set(await this.hosts());
    const named = [...all.values()].filter(
      ({ name, host }) => name.startsWith(prefixOf(installationId)) && online.has(host),
    );
    const shown = (await mapConcurrently(named, (one) => this.loadDetails(one, one.status))).filter(
      (one) => one !== null,
    );
    const own = shown
      // A copy of a machine has its description, but another id.
      .filter(({ note, vmid }) => note?.owner.installationId === installationId && isIdOf(note.owner.nodeToken, vmid))
      .map((machine) => ({ machine, node: nodeOf(machine, machine.status === 'stopped' ? 'stopped' : 'running') }));
    const known = new Set(own.map(({ node }) => node.labels.nodeToken));
    // A machine that is being cloned has no name yet, but its seed has one.
    const unknown = seeds.filter(({ token }) => !known.has(token) && idsOf(token).some((id) => all.has(id)));
    const copied = await mapConcurrently(unknown, async ({ token, createdAt }): Promise<OwnedMachine[]> => {
      const machine = await this.ofNode(token, all);
      if (machine === null || machine.note !== null) return [];
      const labels = { installationId, tenantId: '', clusterId: '', nodeToken: token };
      return [{ machine, node: { ...goneNode(token), ...pendingOf(machine), labels, createdAt } }];
    });
    return [...own, ...copied.flat()];
  }

  /** Does the next step to terminate the machine. */
  async terminate(machine: MachineDetails): Promise<void> {
    if (machine.note === null || isLocked(machine)) return;
    if (machine.status === 'stopped') return this.remove(machine);
    if (!(await this.isBusy(machine, 'qmstop'))) await this.postAction(machine, '/status/stop');
  }

  /**
   * Returns null if the machine has disappeared since it was listed.
   * @param status the listed status; requested if absent
   */
  async loadDetails(listed: ListedMachine, status?: string): Promise<MachineDetails | null> {
    try {
      const config = objectOf(await this.get(`${pathOf(listed)}/config?current=1`));
      const current = status || textOf(objectOf(await this.get(`${pathOf(listed)}/status/current`))['status']);
      return { ...listed, config, status: current, note: parseNote(config['description']) };
    } catch (error) {
      if (messageMatches(error, /does not exist|no such vm/i)) return null;
      throw error;
    }
  }

  /** Does the next step to provision the machine, and returns its state. */
  async continueProvisioning(machine: MachineDetails, nodeToken: string): Promise<ProviderNode> {
    const { note, status, config } = machine;
    if (note === null || isLocked(machine))
      return { ...goneNode(nodeToken), ...pendingOf(machine), ...ownerPart(note) };
    if (status === 'running') {
      if (!note.isProvisioned) await this.markProvisioned(machine);
      return nodeOf(machine, 'running', await this.address(machine));
    }
    const [last] = await this.tasks(machine);
    if (last?.isRunning) return nodeOf(machine, last.type === 'qmstart' ? 'pending' : 'stopping');
    const failure = failedStart(last);
    if (failure && failure.kind !== 'transient') return { ...nodeOf(machine, 'failed'), fault: failure };
    // A stopped machine is started only to finish its provisioning. Otherwise somebody stopped it.
    if (note.isProvisioned) return { ...nodeOf(machine, 'stopped'), fault: failure };
    const missing = Object.entries(note.plan).filter(([key, value]) => !isApplied(config[key], value));
    if (missing.length > 0) await this.configure(machine, Object.fromEntries(missing));
    else await this.postAction(machine, '/status/start');
    return nodeOf(machine, 'pending');
  }

  /** Returns the clone task, or null if another call was first. */
  async create(
    vmid: number,
    spec: NodeSpec,
    userData: string,
    all: ReadonlyMap<number, ListedMachine>,
  ): Promise<string | null> {
    const { labels, place, image } = spec;
    const template = templateOf(image, all);
    const host = await this.hostFor(spec, template);
    await this.checkBridge(host, place);
    const storages = listOf(await this.get(`/nodes/${host}/storage?enabled=1`));
    const missing = spec.disks.find(({ type }) => !storages.some((one) => one['storage'] === type));
    if (missing)
      throw fault(
        'NO_STORAGE',
        `Host ${host} of Proxmox VE has no storage "${missing.type}", which a disk of the node needs.`,
      );
    const iso = storages.find((one) => textOf(one['content']).split(',').includes('iso') && one['active'] !== 0);
    const storage = textOf(iso?.['storage']);
    if (!STORAGE_NAME.test(storage))
      throw fault(
        'NO_ISO_STORAGE',
        `Host ${host} of Proxmox VE has no active storage for ISO images, which nodes boot from.`,
      );
    const filename = seedName(spec);
    const description = newNote(spec, planOf(spec, `${storage}:iso/${filename}`));
    await this.client.request('POST', `/nodes/${host}/storage/${storage}/upload`, {
      upload: {
        filename,
        content: seedImage(userData, `${labels.nodeToken}-${spec.attempt}`),
        fields: { content: 'iso' },
      },
      signal: this.signal,
    });
    const form = { newid: `${vmid}`, name: nameOf(labels), description, full: '1' };
    try {
      const target: Record<string, string> = host === template.host ? {} : { target: host };
      return textOf(await this.postAction(template, '/clone', { ...form, ...target }));
    } catch (error) {
      // Another call for the node was first. Its machine is found from now on.
      if (!messageMatches(error, /already exists/i)) throw error;
      return null;
    }
  }

  /** Returns the reasons of failed clones by node token. A task is found by its id, or by a machine id in its error message. */
  async failedClones(
    refs: readonly NodeRef[],
    tasks: ReadonlyMap<string, string>,
  ): Promise<Map<string, ComputeDriverError>> {
    const failed = new Map<string, ComputeDriverError>();
    if (refs.length === 0) return failed;
    const copies = await this.listCloneTasks(
      `errors=1&since=${Math.floor(Date.now() / 1000) - CLONE_LOOKBACK_SECONDS}`,
    );
    for (const { nodeToken } of refs) {
      const ids = new RegExp(`(?<!\\d)(${idsOf(nodeToken).join('|')})(?!\\d)`);
      const task = tasks.get(nodeToken);
      const found = copies.find(({ upid, status }) => (task === undefined ? ids.test(status) : upid === task));
      if (!found || found.status === '' || found.status === 'OK') continue;
      failed.set(nodeToken, taskFault('COPY_FAILED', 'Proxmox VE cannot clone the template', found.status));
    }
    return failed;
  }

  /**
   * Throws if the machine has a lock that may never be released, so that the operator can release it.
   * @throws ComputeDriverError of kind `transient`
   */
  async assertLockIsReleased(machine: MachineDetails): Promise<void> {
    const { config, vmid } = machine;
    const lock = textOf(config['lock']);
    if (lock === 'clone' && (await this.listCloneTasks('source=active')).length > 0) return;
    // The lock may have ended with the task meanwhile.
    if ((await this.loadDetails(machine))?.config['lock'] !== config['lock']) return;
    const words =
      lock === 'clone'
        ? `Machine ${vmid} is locked by a clone task that no longer runs. Run "qm unlock ${vmid}" on host ${machine.host} to release it.`
        : `Machine ${vmid} on host ${machine.host} is locked (${lock.replaceAll(/[^\w-]/g, ' ').slice(0, 40)}). It is removed once it is unlocked.`;
    throw new ComputeDriverError('PROXMOX.LOCKED', words, { kind: 'transient', retryAfterMs: LOCKED_RETRY_MS });
  }

  /** Lists clone tasks of all online hosts. */
  private async listCloneTasks(query: string): Promise<{ upid: string; status: string }[]> {
    const found = await mapConcurrently(await this.hosts(), async (host) => {
      const data = listOf(await this.get(`/nodes/${host}/tasks?typefilter=qmclone&limit=500&${query}`));
      return data.map((one) => ({ upid: textOf(one['upid']), status: textOf(one['status']) }));
    });
    return found.flat();
  }

  /** Returns the names of the online hosts. */
  private async hosts(): Promise<string[]> {
    const nodes = await this.client.nodes(this.signal);
    return nodes.filter(({ isOnline, name }) => isOnline && HOST_NAME.test(name)).map(({ name }) => name);
  }

  async markProvisioned(machine: MachineDetails): Promise<void> {
    const description = textOf(machine.config['description']);
    await this.updateConfig(machine, { description: withProvisionedMark(description) });
  }

  /** True if a task of the machine is running, or one of the type if given. */
  async isBusy(machine: ListedMachine, type?: string): Promise<boolean> {
    const tasks = await this.tasks(machine);
    return tasks.some((one) => one.isRunning && (type === undefined || one.type === type));
  }

  /** Returns the id of the task. */
  postAction(machine: ListedMachine, path: string, form: Readonly<Record<string, string>> = {}): Promise<unknown> {
    return this.client.request('POST', `${pathOf(machine)}${path}`, { form, signal: this.signal });
  }

  /** Removes the seed first, because only the machine's configuration names it. */
  async remove(machine: MachineDetails): Promise<void> {
    const volume = seedVolume(machine);
    if (volume) await this.removeVolume(machine.host, volume);
    try {
      const path = `${pathOf(machine)}?purge=1&destroy-unreferenced-disks=1`;
      await this.client.request('DELETE', path, { signal: this.signal });
    } catch (error) {
      if (!messageMatches(error, /does not exist/i)) throw error;
    }
  }

  async removeSeeds(nodeToken: string): Promise<void> {
    for (const { host, volume, token } of await this.seeds(null))
      if (token === nodeToken) await this.removeVolume(host, volume);
  }

  async seedOf(nodeToken: string): Promise<Seed | undefined> {
    return (await this.seeds(null)).find(({ token }) => token === nodeToken);
  }

  /** Lists the seeds of an installation; of all installations if null. */
  async seeds(installationId: string | null): Promise<Seed[]> {
    const found = await mapConcurrently(await this.hosts(), async (host) => {
      const storages = listOf(await this.get(`/nodes/${host}/storage?content=iso&enabled=1`));
      const names = storages.filter((one) => one['active'] !== 0).map((one) => textOf(one['storage']));
      const contents = names
        .filter((name) => STORAGE_NAME.test(name))
        .map(async (storage) => {
          const volumes = listOf(await this.get(`/nodes/${host}/storage/${storage}/content?content=iso`));
          return volumes.map((one) => ({ volume: textOf(one['volid']), ctime: Number(one['ctime']) }));
        });
      return (await Promise.all(contents)).flat().flatMap(({ volume, ctime }) => {
        const [, prefix, attempt, token] = SEED_VOLUME.exec(volume) ?? [];
        if (token === undefined || !Number.isFinite(ctime)) return [];
        if (installationId !== null && prefix !== installationHash(installationId)) return [];
        return [{ host, volume, token, attempt: Number(attempt), createdAt: new Date(ctime * 1000) }];
      });
    });
    return found.flat();
  }

  async removeVolume(host: string, volume: string): Promise<void> {
    const [storage = ''] = volume.split(':');
    try {
      const path = `/nodes/${host}/storage/${storage}/content/${encodeURIComponent(volume)}`;
      await this.client.request('DELETE', path, { signal: this.signal });
    } catch (error) {
      if (!messageMatches(error, /does not exist|no such/i)) throw error;
    }
  }

  /** Sets options and removes the template's cloud-init drives, which would be read instead of the seed. */
  private async configure(machine: MachineDetails, options: Record<string, string>): Promise<void> {
    const discs = Object.entries(machine.config)
      .filter(([key, value]) => /^(ide|sata|scsi)\d+$/.test(key) && /cloudinit/.test(textOf(value)))
      .map(([key]) => key)
      .filter((key) => !(key in options));
    await this.updateConfig(machine, discs.length === 0 ? options : { ...options, delete: discs.join(',') });
  }

  /** Changes the configuration unless another call has changed it since it was read. The caller tries again later. */
  private async updateConfig(machine: MachineDetails, options: Readonly<Record<string, string>>): Promise<void> {
    const form = { ...options, digest: textOf(machine.config['digest']) };
    try {
      await this.client.request('PUT', `${pathOf(machine)}/config`, { form, signal: this.signal });
    } catch (error) {
      if (!messageMatches(error, /modified configuration|checksum missmatch|digest/i)) throw error;
    }
  }

  /** Returns the template's host if it has room, or else the allowed host with the most free memory. */
  private async hostFor({ place, machine }: NodeSpec, template: ListedMachine): Promise<string> {
    const online = (await this.client.onlineHosts(this.signal)).filter(({ name }) => HOST_NAME.test(name));
    const unknown = place.hosts.find((name) => !online.some((one) => one.name === name));
    const allowed = online.filter(({ name }) => place.hosts.length === 0 || place.hosts.includes(name));
    if (allowed.length === 0) {
      if (unknown === undefined) throw fault('NO_HOST', 'No host of Proxmox VE is online.', 'transient');
      throw fault('NO_HOST', `The host ${unknown} is not online in Proxmox VE.`);
    }
    const withRoom = allowed.filter(
      (one) => one.memoryBytes - one.memoryUsedBytes >= machine.memoryMb * MIB && one.cores >= machine.cores,
    );
    const own = withRoom.find(({ name }) => name === template.host);
    const [most] = withRoom.sort((one, other) => free(other) - free(one));
    const chosen = own ?? most;
    if (!chosen)
      throw new ComputeDriverError(
        'PROXMOX.NO_ROOM',
        `No host of Proxmox VE has ${machine.memoryMb} MiB of free memory and ${machine.cores} cores for the node.`,
        {
          ...{ kind: 'capacity', scope: 'zone' },
        },
      );
    return chosen.name;
  }

  private async checkBridge(host: string, { network }: Place): Promise<void> {
    if (network === null) return;
    const bridges = listOf(await this.get(`/nodes/${host}/network?type=any_bridge`));
    if (!bridges.some((one) => one['iface'] === network))
      throw fault('NO_BRIDGE', `Host ${host} of Proxmox VE has no network bridge "${network}".`);
  }

  private async address(machine: ListedMachine): Promise<string | null> {
    try {
      const { result } = objectOf(await this.get(`${pathOf(machine)}/agent/network-get-interfaces`));
      const addresses = listOf(result).flatMap((card) => listOf(card['ip-addresses'] ?? []));
      const usual = addresses
        .filter((one) => one['ip-address-type'] === 'ipv4')
        .map((one) => textOf(one['ip-address']))
        .filter((one) => /^\d{1,3}(\.\d{1,3}){3}$/.test(one) && !/^(127|169\.254)\./.test(one));
      return usual[0] ?? null;
    } catch (error) {
      // Without a running guest agent the address is unknown. The node's agent reports it.
      if (error instanceof ProxmoxError && !this.signal.aborted) return null;
      throw error;
    }
  }

  /** Lists the machine's last tasks, newest first. */
  private async tasks({ host, vmid }: ListedMachine): Promise<Task[]> {
    const data = listOf(await this.get(`/nodes/${host}/tasks?vmid=${vmid}&source=all&limit=10`));
    const tasks = data.map((one) => ({ ...one, start: Number(one['starttime']) || 0 }));
    return tasks
      .sort((one, other) => other.start - one.start)
      .map((one: Json) => {
        const status = one['status'] === undefined || one['status'] === 'RUNNING' ? null : textOf(one['status']);
        return { type: textOf(one['type']), status, isRunning: one['endtime'] === undefined && status === null };
      });
  }

  private get(path: string): Promise<unknown> {
    return this.client.request('GET', path, { signal: this.signal });
  }
}

/** Returns the fault of the last task if it is a failed start; null otherwise. */
function failedStart(last: Task | undefined): ComputeDriverError | null {
  if (last?.type !== 'qmstart' || last.status === null || last.status === 'OK') return null;
  return taskFault('START_FAILED', 'Proxmox VE cannot start the machine', last.status);
}

function templateOf(image: string, all: ReadonlyMap<number, ListedMachine>): ListedMachine {
  const templates = [...all.values()].filter(({ isTemplate }) => isTemplate);
  const found = templates.find(({ vmid, name }) => name === image || `${vmid}` === image);
  if (!found) throw fault('NO_TEMPLATE', `Proxmox VE has no template with the name or id "${image}".`);
  return found;
}

/** Returns the options that turn a clone of the template into the node's machine. */
function planOf({ place, machine, disks }: NodeSpec, seed: string): Record<string, string> {
  const plan: Record<string, string> = { cores: `${machine.cores}`, memory: `${machine.memoryMb}`, agent: '1' };
  if (place.network !== null) {
    if (!/^[A-Za-z][\w.-]{0,31}$/.test(place.network))
      throw fault('NO_BRIDGE', `The network "${place.network}" is not a valid name of a bridge.`);
    plan['net0'] = `${place.networkCard ?? 'virtio'},bridge=${place.network}`;
  }
  if (disks.length > 29)
    throw fault('DISKS', `The node has ${disks.length} data disks, and a machine of Proxmox VE can have at most 29.`);
  for (const [index, { gib, type, iops, throughputMb, encrypted }] of disks.entries()) {
    if (encrypted)
      throw fault(
        'ENCRYPTED_DISK',
        'Proxmox VE does not encrypt disks. Use a storage that does, and request no encryption.',
      );
    if (!STORAGE_NAME.test(type))
      throw fault('NO_STORAGE', `The disk type "${type}" is not a valid name of a storage.`);
    const limits = [
      iops === null ? '' : `,iops_rd=${iops},iops_wr=${iops}`,
      throughputMb === null ? '' : `,mbps_rd=${throughputMb},mbps_wr=${throughputMb}`,
    ];
    plan[`scsi${index + 1}`] = `${type}:${gib}${limits.join('')}`;
  }
  plan['ide2'] = `${seed},media=cdrom`;
  return plan;
}

/** True if an option has its planned value. A disk counts once it exists, because Proxmox VE names it. */
function isApplied(actual: unknown, planned: string): boolean {
  if (actual === undefined) return false;
  if (/^\d+$/.test(planned)) return actual === planned || actual === Number(planned);
  if (planned.includes('media=cdrom')) return textOf(actual).startsWith(planned.split(',')[0] ?? planned);
  // Proxmox VE adds a MAC address to the model of a network card.
  if (planned.includes('bridge='))
    return textOf(actual)
      .split(',')
      .includes(planned.split(',')[1] ?? '');
  return textOf(actual).startsWith(`${planned.split(':')[0]}:`);
}

function seedVolume({ note }: MachineDetails): string | null {
  const [volume = ''] = note?.plan['ide2']?.split(',') ?? [];
  return SEED_VOLUME.test(volume) ? volume : null;
}

const SEED_VOLUME =
  /^[A-Za-z][A-Za-z0-9._-]{0,99}:iso\/platform-seed-([0-9a-f]{8})-(\d{1,9})-([A-Za-z0-9-]{1,80})\.iso$/;

function seedName({ labels, attempt }: NodeSpec): string {
  return `platform-seed-${installationHash(labels.installationId)}-${attempt}-${labels.nodeToken}.iso`;
}

function toCandidate({ machine, node }: OwnedMachine) {
  return { machine, nodeToken: node.labels.nodeToken, createdAt: node.createdAt };
}

function pathOf({ host, vmid }: ListedMachine): string {
  return `/nodes/${host}/qemu/${vmid}`;
}

function free({ memoryBytes, memoryUsedBytes }: { memoryBytes: number; memoryUsedBytes: number }): number {
  return memoryBytes - memoryUsedBytes;
}

function isLocked({ config }: MachineDetails): boolean {
  return config['lock'] !== undefined;
}

function nodeOf(machine: MachineDetails, state: ProviderNodeState, privateIp: string | null = null): ProviderNode {
  const { note, vmid } = machine;
  return {
    ...goneNode(''),
    ...ownerPart(note),
    providerRef: `${vmid}`,
    state,
    privateIp,
    createdAt: note?.createdAt ?? null,
  };
}

function ownerPart(note: MachineNote | null): Partial<ProviderNode> {
  if (note === null) return {};
  const { installationId, tenantId, clusterId, nodeToken } = note.owner;
  return { labels: { installationId, tenantId, clusterId, nodeToken }, createdAt: note.createdAt };
}

function pendingOf({ vmid }: ListedMachine): Partial<ProviderNode> {
  return { providerRef: `${vmid}`, state: 'pending' };
}

function pending({ labels }: NodeSpec, vmid: number): ProviderNode {
  return { ...goneNode(labels.nodeToken), labels, providerRef: `${vmid}`, state: 'pending' };
}

function fault(code: string, message: string, kind: FaultKind = 'invalid'): ComputeDriverError {
  return new ComputeDriverError(`PROXMOX.${code}`, message, { kind });
}

function messageMatches(error: unknown, words: RegExp): boolean {
  return error instanceof ProxmoxError && words.test(error.message);
}

function listOf(data: unknown): Json[] {
  if (!Array.isArray(data)) throw new ProxmoxError('NOT_PROXMOX', 'Proxmox VE did not return a list.');
  if (data.length > MAX_MACHINES)
    throw new ProxmoxError('NOT_PROXMOX', `Proxmox VE returned a list of more than ${MAX_MACHINES} items.`);
  return data.filter((one): one is Json => typeof one === 'object' && one !== null);
}

function objectOf(data: unknown): Json {
  return typeof data === 'object' && data !== null && !Array.isArray(data) ? { ...data } : {};
}

/** Reads a text from an untrusted response. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 65_536) : '';
}
