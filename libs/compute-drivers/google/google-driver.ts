import type { compute_v1 } from '@googleapis/compute/build/v1';
import type { CloudDriverOptions } from '../cloud-driver';
import { ComputeDriverError, type DriverContext, type NodeSpec } from '../compute-driver';
import { grouped } from '../grouped';
import { mapConcurrently } from '../machines/map-concurrently';
import type { Cloud, CloudPort, ErrorClass, Leftover, NodeQuery } from '../machines/cloud-port';
import { MachineDriver } from '../machines/machine-driver';
import { foreignMachine } from '../machines/machine-faults';
import type { Place } from '../place';
import { GoogleClient } from './google-client';
import { googleFault, operationFault } from './google-faults';
import { machineOf } from './google-machine';
import { machineName, nodeName, projectOf, requestId, zoneOf } from './google-names';
import {
  type MachineOperation,
  listOperations,
  type GoogleMachine,
  type GooglePart,
  installationFilter,
  regionMachines,
  regionParts,
  tokenFilter,
  unlistedMachine,
  zoneMachines,
} from './google-resources';

/** A filter is part of the URL, whose length is limited. */
const MAX_TOKENS_PER_FILTER = 50;
const PREEMPTED = 'compute.instances.preempted';
/** Longest time that a requested machine may be missing from lists. */
const MAX_HIDDEN_MS = 600_000;

class GoogleCloud implements Cloud<GoogleMachine> {
  readonly name = 'google';
  readonly title = 'Google Cloud';
  readonly notice = 'gcp';
  /** Google stops interrupted spot instances, and the platform may stop them, too. */
  readonly canStopSpot = true;
  readonly canRelaunchAttempt = true;

  constructor(private readonly options: CloudDriverOptions) {}

  open(place: Place, context: DriverContext, secrets: readonly string[]): GooglePort {
    const { outbound, endpoint } = this.options;
    return new GooglePort(new GoogleClient(outbound, endpoint, context, secrets), place);
  }
}

/**
 * The name of an instance follows from its node and attempt, so a second one cannot be created. The id of the request does,
 * too, so a repeated request returns the operation of the first. Only operations report why an accepted request failed, and
 * that a spot instance was preempted.
 */
class GooglePort implements CloudPort<GoogleMachine> {
  constructor(
    private readonly client: GoogleClient,
    private readonly place: Place,
  ) {}

  prepareLaunch(spec: NodeSpec, script: string): () => Promise<GoogleMachine> {
    const requestBody = machineOf(spec, script);
    const { labels, attempt, place } = spec;
    const [project, zone] = [projectOf(place), zoneOf(place)];
    const name = machineName(labels.nodeToken, attempt);
    const id = requestId(labels.nodeToken, attempt);
    return async () => {
      try {
        await this.change((api, options) =>
          api.instances.insert({ project, zone, requestId: id, requestBody }, options),
        );
      } catch (error) {
        if (!isFault(error, 'alreadyExists')) throw error;
        const [found] = await zoneMachines(this.client, project, zone, `name="${name}"`);
        const isOwn =
          found?.owner.installationId === labels.installationId && found.owner.nodeToken === labels.nodeToken;
        if (found && !isOwn) throw foreignMachine('Google Cloud', name);
        // If nothing is found, the machine is not listed yet.
      }
      return unlistedMachine({ ...labels, attempt }, name, zone);
    };
  }

  async find(sought: readonly NodeQuery[]): Promise<GoogleMachine[]> {
    const byName = new Map<string, GoogleMachine>();
    for (const group of grouped(sought, ({ place }) => place.zone).values())
      for (let at = 0; at < group.length; at += MAX_TOKENS_PER_FILTER) {
        const tokens = group.slice(at, at + MAX_TOKENS_PER_FILTER).map(({ nodeToken }) => nodeToken);
        const [{ place }] = group;
        for (const one of await zoneMachines(this.client, projectOf(place), zoneOf(place), tokenFilter(tokens)))
          byName.set(one.id, one);
      }
    const found = await mapConcurrently(sought, (one) => this.resolveMachine(one, byName));
    return found.filter((machine) => machine !== null);
  }

  async findAllAttempts({ nodeToken, attempt, place }: NodeQuery): Promise<GoogleMachine[]> {
    const filter = tokenFilter([nodeToken]);
    const machines =
      attempt === 1
        ? await zoneMachines(this.client, projectOf(place), zoneOf(place), filter)
        : // Earlier attempts may have been in other zones.
          await regionMachines(this.client, place, filter);
    const name = attempt === null ? null : machineName(nodeToken, attempt);
    // A machine that a user copied has the labels of the node and another name.
    const isCopy = ({ owner, id }: GoogleMachine) =>
      owner.nodeToken === nodeToken && owner.attempt === attempt && id !== name;
    const copy = machines.find(isCopy);
    if (copy && !machines.some(({ id }) => id === name)) throw foreignMachine('Google Cloud', copy.id);
    return machines.filter((one) => !isCopy(one));
  }

  async listOwned(installationId: string): Promise<GoogleMachine[]> {
    const machines = await regionMachines(this.client, this.place, installationFilter(installationId));
    return machines.filter(({ owner }) => owner.installationId === installationId);
  }

  start({ id, zone }: GoogleMachine): Promise<void> {
    const target = { project: projectOf(this.place), zone, instance: id };
    return this.change((api, options) => api.instances.start(target, options));
  }

  stop({ id, zone, hasLocalSsd }: GoogleMachine): Promise<unknown> {
    const target = { project: projectOf(this.place), zone, instance: id };
    // Google stops a machine with local disks only if the request says that they are discarded.
    const discard = hasLocalSsd ? { discardLocalSsd: true } : {};
    return this.client.call((api, options) => api.instances.stop({ ...target, ...discard }, options));
  }

  async terminate(machines: readonly Pick<GoogleMachine, 'id' | 'zone'>[]): Promise<void> {
    const project = projectOf(this.place);
    for (const { id, zone } of machines)
      await this.client.call((api, options) => api.instances.delete({ project, zone, instance: id }, options));
  }

  async terminateUnlisted(nodeToken: string): Promise<boolean> {
    if (this.place.zone === null) return false;
    const zone = zoneOf(this.place);
    const done = await listOperations(this.client, projectOf(this.place), zone, `${nodeName(nodeToken)}-`);
    const ended = new Set(done.filter(({ type }) => type === 'delete').map(({ machine }) => machine));
    let any = false;
    for (const one of done) {
      if (one.type !== 'insert' || one.fault || ended.has(one.machine) || !isRecent(one.at)) continue;
      any = (await this.terminateInserted(one, zone)) || any;
    }
    return any;
  }

  leftoversOfNode(nodeToken: string): Promise<Leftover[]> {
    return this.parts(tokenFilter([nodeToken]), ({ owner }) => owner.nodeToken === nodeToken);
  }

  leftoversOfInstallation(installationId: string): Promise<Leftover[]> {
    return this.parts(installationFilter(installationId), ({ owner }) => owner.installationId === installationId);
  }

  classify({ code }: ComputeDriverError): ErrorClass | null {
    if (code === 'GOOGLE.notFound') return 'missing';
    return code === 'GOOGLE.resourceNotReady' || code === 'GOOGLE.resourceInUseByAnotherResource' ? 'busy' : null;
  }

  /** Returns the machine of this attempt, with the state that only operations report. */
  private async resolveMachine(
    { nodeToken, attempt, place }: NodeQuery,
    byName: ReadonlyMap<string, GoogleMachine>,
  ): Promise<GoogleMachine | null> {
    const name = machineName(nodeToken, attempt ?? 1);
    const listed = byName.get(name);
    // A response may contain machines of other nodes.
    const machine = listed?.owner.nodeToken === nodeToken ? listed : null;
    if (machine && machine.phase !== 'off') return machine;
    const zone = zoneOf(place);
    // Names of other machines may have the same prefix.
    const done = (await listOperations(this.client, projectOf(place), zone, name)).filter(
      (one) => one.machine === name,
    );
    if (machine) return explainStop(machine, done);
    const inserted = done.find(({ type }) => type === 'insert');
    const nobody = { installationId: '', tenantId: '', clusterId: '', nodeToken, attempt: attempt ?? 1 };
    if (inserted && !inserted.done) return unlistedMachine(nobody, name, zone);
    const fault = inserted?.fault;
    return fault ? { ...unlistedMachine(nobody, name, zone), phase: 'over', end: 'failed', fault } : null;
  }

  /** Terminates a machine that is not listed yet. Returns true while it exists or may still appear. */
  private async terminateInserted({ machine, done }: MachineOperation, zone: string): Promise<boolean> {
    if (!done) return true;
    try {
      await this.terminate([{ id: machine, zone }]);
      return true;
    } catch (error) {
      const known = error instanceof ComputeDriverError ? this.classify(error) : null;
      if (known === null) throw error;
      return known === 'busy';
    }
  }

  private async parts(filter: string, isRequested: (part: GooglePart) => boolean): Promise<Leftover[]> {
    const project = projectOf(this.place);
    const parts = await regionParts(this.client, this.place, filter);
    return parts.filter(isRequested).map(({ kind, id, where, owner: { nodeToken }, createdAt, isInUse }) => ({
      ...{ nodeToken, createdAt, isInUse },
      remove: () =>
        this.client.call((api, options) =>
          kind === 'disk'
            ? api.disks.delete({ project, zone: where, disk: id }, options)
            : api.addresses.delete({ project, region: where, address: id }, options),
        ),
    }));
  }

  /** Makes a call and throws the error of its operation if it has failed already. */
  private async change(
    request: (
      api: compute_v1.Compute,
      options: { signal: AbortSignal },
    ) => Promise<{ data: compute_v1.Schema$Operation }>,
  ): Promise<void> {
    const fault = operationFault(await this.client.call(request), this.client.secrets);
    if (fault) throw fault;
  }
}

/** Adds the reason why a machine does not run: preemption, or a start that failed. A machine stopped by request has none. */
function explainStop(machine: GoogleMachine, done: readonly MachineOperation[]): GoogleMachine {
  const start = done.find(({ type }) => type === 'start');
  if (start && !start.done) return { ...machine, phase: 'starting' };
  const taken = done.find(({ type }) => type === PREEMPTED);
  if (machine.isSpot && taken && isLater(taken.at, machine.startedAt ?? machine.createdAt))
    return { ...machine, end: 'interrupted', fault: interruption(taken.message) };
  return start?.fault && isLater(start.at, machine.stoppedAt) ? { ...machine, fault: start.fault } : machine;
}

function interruption(reason: string): ComputeDriverError {
  const { message } = googleFault(
    { status: null, code: PREEMPTED, message: reason || 'Google Cloud took back the spot machine of this node' },
    [],
  );
  return new ComputeDriverError('GOOGLE.PREEMPTED', message, { kind: 'capacity', scope: 'zone' });
}

function isRecent(date: Date | null): boolean {
  return date !== null && Date.now() - date.getTime() < MAX_HIDDEN_MS;
}

function isLater(one: Date | null, other: Date | null): boolean {
  return one !== null && (other === null || one >= other);
}

function isFault(error: unknown, code: string): boolean {
  return error instanceof ComputeDriverError && error.code === `GOOGLE.${code}`;
}

/** Runs nodes on instances of Google Compute Engine. */
export class GoogleDriver extends MachineDriver<GoogleMachine> {
  constructor(options: CloudDriverOptions) {
    super(new GoogleCloud(options), options.bootScript);
  }
}
