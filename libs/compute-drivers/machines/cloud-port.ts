import type { MetadataKind } from '../../node-agent/interruption';
import type { Owner } from '../cloud-driver';
import type { ComputeDriverError, DriverContext, NodeRef, NodeSpec } from '../compute-driver';
import type { Place } from '../place';

/**
 * Phase of a machine, which decides what calls are possible.
 * - `halted`: it does not run but still occupies (and is billed for) a host; `stop` releases the host
 * - `off`: it does not run and can be started
 * - `ending`: it is being terminated
 * - `over`: it is terminated for good; some providers list it for a while
 */
export type MachinePhase = 'starting' | 'running' | 'stopping' | 'halted' | 'off' | 'ending' | 'over';

/** A machine as its provider reports it. */
export interface Machine {
  /** The provider's id of the machine. */
  id: string;
  owner: Owner;
  phase: MachinePhase;
  /** Set if the machine ended without a request of the platform; `fault` has the reason. */
  end: 'interrupted' | 'failed' | null;
  fault: ComputeDriverError | null;
  isSpot: boolean;
  /** True for a copy that a user made with the same labels. It is listed, but never removed. */
  isCopy?: boolean;
  createdAt: Date | null;
  privateIp: string | null;
  publicIp: string | null;
}

/** A resource that a node has left behind without its machine, such as a disk. */
export interface Leftover {
  nodeToken: string;
  createdAt: Date | null;
  /** True if another resource uses it, so that it cannot be removed yet. */
  isInUse?: boolean;
  /** Requests the removal and does not wait for it. */
  remove(): Promise<unknown>;
}

/** Criteria by which the machine of a node is looked up. */
export type NodeQuery = Pick<NodeRef, 'nodeToken' | 'place'> & {
  /** Null for any attempt. */
  attempt: number | null;
};

/** Class of an error, besides its kind: the machine exists already, does not exist, or is changing. */
export type ErrorClass = 'exists' | 'missing' | 'busy';

/**
 * Calls to one provider at one place, for one call of a driver. A port sends requests and reads responses; `MachineDriver`
 * handles attempts, retries and the phases of a machine. Every method throws a {@link ComputeDriverError}, and none waits
 * until the provider is done.
 */
export interface CloudPort<M extends Machine = Machine> {
  /** Validates the spec without a call to the provider, and returns the function that launches the machine. */
  prepareLaunch(spec: NodeSpec, script: string): () => Promise<M>;
  /** Returns the machines of these nodes, including terminated ones that the provider still lists. */
  find(sought: readonly NodeQuery[]): Promise<M[]>;
  /** Like `find`, for all attempts of one node. Needed if machines of other attempts have other names or may be in other zones. */
  findAllAttempts?(sought: NodeQuery): Promise<M[]>;
  /** Lists all machines of an installation, as in `find`. */
  listOwned(installationId: string): Promise<M[]>;
  /** Adds fields that need further requests, such as addresses. Returns the machines in the same order. */
  loadDetails?(machines: readonly M[]): Promise<M[]>;
  start(machine: M): Promise<unknown>;
  stop(machine: M): Promise<unknown>;
  /** Terminates at most `maxTerminationsPerCall` machines. */
  terminate(machines: readonly M[]): Promise<unknown>;
  /** Keeps a terminated machine from being reported as interrupted or failed again, once the platform has handled its end. */
  dismissEnd?(machine: M): Promise<unknown>;
  /** Terminates machines of the node that were accepted and are not listed yet. Returns true if any existed. */
  terminateUnlisted?(nodeToken: string): Promise<boolean>;
  leftoversOfNode(nodeToken: string): Promise<Leftover[]>;
  /** @param machines the result of `listOwned` */
  leftoversOfInstallation(installationId: string, machines: readonly M[]): Promise<Leftover[]>;
  /** Classifies an error that this port threw; null if only its kind matters. */
  classify(error: ComputeDriverError): ErrorClass | null;
}

/** A provider whose machines boot by a script. */
export interface Cloud<M extends Machine = Machine> {
  /** Name of the driver. */
  readonly name: string;
  /** Name of the provider in messages. */
  readonly title: string;
  /** Metadata service that announces the interruption of a spot machine; null if there is none. */
  readonly notice: MetadataKind | null;
  /** True if a spot machine can be stopped, and not only terminated. */
  readonly canStopSpot: boolean;
  /** True if a repeated request launches another machine once the machine of the same attempt has ended. */
  readonly canRelaunchAttempt: boolean;
  readonly maxTerminationsPerCall?: number;
  /** True if the provider does not report the age of some leftovers. A sweep removes them unless their node is live. */
  readonly hasLeftoversWithoutAge?: boolean;
  /** @param secrets values that no error may contain, besides the credentials */
  open(place: Place, context: DriverContext, secrets: readonly string[]): CloudPort<M>;
}
