import type { MetadataKind } from '../../node-agent/interruption';
import type { Owner } from '../cloud-driver';
import type { ComputeDriverError, DriverContext, NodeRef, NodeSpec } from '../compute-driver';
import type { Place } from '../place';

/**
 * Where a machine is in its life, which decides what may be asked of it.
 * - `halted`: it stands still, and still holds its place at the provider, which `stop` gives up
 * - `off`: it stands still and can be started
 * - `ending`: it is on its way to its end
 * - `over`: nothing of it runs or comes back; some providers list it for a while
 */
export type MachinePhase = 'starting' | 'running' | 'stopping' | 'halted' | 'off' | 'ending' | 'over';

/** A machine as its provider shows it. */
export interface Machine {
  /** The provider's own name of it. */
  id: string;
  owner: Owner;
  phase: MachinePhase;
  /** How the machine ended without a request; its fault says why. */
  end: 'interrupted' | 'failed' | null;
  fault: ComputeDriverError | null;
  isSpot: boolean;
  /** A copy that somebody made has the same labels. It is listed, and left alone. */
  isCopy?: boolean;
  createdAt: Date | null;
  privateIp: string | null;
  publicIp: string | null;
}

/** A resource that a node has left behind besides its machines, such as a disk. */
export interface Leftover {
  nodeToken: string;
  createdAt: Date | null;
  /** Whether something uses it, so that it cannot be removed yet. */
  isInUse?: boolean;
  /** Asks for its end and waits for nothing. */
  remove(): Promise<unknown>;
}

/** A node whose machine is looked for. */
export type NodeQuery = Pick<NodeRef, 'nodeToken' | 'place'> & {
  /** Null where it does not matter. */
  attempt: number | null;
};

/** The class of an error, besides its kind: the machine exists already, does not exist, or is just changing. */
export type ErrorClass = 'exists' | 'missing' | 'busy';

/**
 * Calls to one provider at one place, for the length of one call of a driver. A port makes requests and reads answers;
 * attempts, repetitions and what follows from the phase of a machine are the business of `MachineDriver`. Every method
 * throws a {@link ComputeDriverError}, and none waits until the provider is done.
 */
export interface CloudPort<M extends Machine = Machine> {
  /** Checks what can be checked without asking anybody, and returns what asks for the machine. */
  prepareLaunch(spec: NodeSpec, script: string): () => Promise<M>;
  /** Machines of these nodes, with those that are over as long as they are listed. */
  find(sought: readonly NodeQuery[]): Promise<M[]>;
  /** The same for all attempts of one node, where machines of other attempts have other names or may be elsewhere. */
  findAllAttempts?(sought: NodeQuery): Promise<M[]>;
  /** All machines of an installation, as in `find`. */
  listOwned(installationId: string): Promise<M[]>;
  /** The same machines in the same order, with what needs further requests, such as addresses. */
  loadDetails?(machines: readonly M[]): Promise<M[]>;
  start(machine: M): Promise<unknown>;
  stop(machine: M): Promise<unknown>;
  /** Ends machines, no more of them than `maxTerminationsPerCall` of the cloud says. */
  terminate(machines: readonly M[]): Promise<unknown>;
  /** Has a machine that is over no longer shown as interrupted or failed, since its end has been dealt with. */
  dismissEnd?(machine: M): Promise<unknown>;
  /** Ends machines of the node that were accepted and are not listed yet; returns whether there were any. */
  terminateUnlisted?(nodeToken: string): Promise<boolean>;
  leftoversOfNode(nodeToken: string): Promise<Leftover[]>;
  /** @param machines the answer of `owned` */
  leftoversOfInstallation(installationId: string, machines: readonly M[]): Promise<Leftover[]>;
  /** The class of an error that a method of this port threw; null for one that only its kind describes. */
  classify(error: ComputeDriverError): ErrorClass | null;
}

/** A provider whose machines boot by a script. */
export interface Cloud<M extends Machine = Machine> {
  /** Name of the driver. */
  readonly name: string;
  /** Name of the provider in messages. */
  readonly title: string;
  /** Where a spot machine finds the announcement that it is taken back; null where there is none. */
  readonly notice: MetadataKind | null;
  /** Whether a spot machine can be stopped, and not only ended. */
  readonly canStopSpot: boolean;
  /** Whether a repeated request makes another machine once that of the same attempt has ended. */
  readonly canRelaunchAttempt: boolean;
  /** How many machines one call may end. */
  readonly maxTerminationsPerCall?: number;
  /** Whether the provider tells no age of some leftovers, so that only their node decides. */
  readonly hasLeftoversWithoutAge?: boolean;
  /** @param secrets what no error may repeat, besides the credentials */
  open(place: Place, context: DriverContext, secrets: readonly string[]): CloudPort<M>;
}
