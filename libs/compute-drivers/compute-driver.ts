import type { AcceleratorKind } from '../contracts/agent-protocol';
import type { Place } from './place';

/**
 * Labels that every driver puts on the resources it creates. A retry finds the resources of the first try by them, and a
 * sweep finds orphans.
 */
export interface OwnershipLabels {
  /** Several installations may share an account or a machine; each accounts for its own nodes only. */
  installationId: string;
  tenantId: string;
  clusterId: string;
  /** Idempotency token of the node; unique over all nodes ever created. */
  nodeToken: string;
}

/** A data disk of a node, besides its boot disk. `iops` and `throughputMb` are null if the type of the disk decides. */
export interface NodeDisk {
  gib: number;
  /** The provider's name of the type, such as `gp3`. */
  type: string;
  iops: number | null;
  /** MB/s */
  throughputMb: number | null;
  encrypted: boolean;
}

/** The machine in terms every provider has. */
export interface NodeMachine {
  /** The provider's name of the machine type. */
  type: string;
  architecture: string;
  cores: number;
  /** MiB */
  memoryMb: number;
  gpu: { model: string; count: number } | null;
}

/** Spot machines are cheaper, and the provider may take them back at any time. */
export type Market = 'on-demand' | 'spot';

/** Settings with which a machine becomes a node. A boot script depends on nothing else of the cluster. */
export interface NodeBoot {
  sparkVersion: string;
  /** The accelerator of the cluster, whose jar the node must have; null or absent for none. */
  accelerator?: AcceleratorKind | null;
  /** URL at which the agent reaches the control plane, such as `http://127.0.0.1:8080`. */
  agentApiUrl: string;
  /** One-time token that the agent exchanges for its own token. It is the same for every try of an attempt. */
  bootstrapToken: string;
}

/**
 * The node to create. The values are the same for every try of an attempt, because some providers refuse a repeated
 * request whose content differs.
 */
export interface NodeSpec {
  labels: OwnershipLabels;
  nodeNumber: number;
  /** Counts from 1. Each attempt is another machine, created once the machine of the attempt before is gone. */
  attempt: number;
  place: Place;
  machine: NodeMachine;
  /** The provider's name of the image or template that the machine boots from. */
  image: string;
  /** The local driver ignores them, because its nodes are folders on its machine. */
  disks: readonly NodeDisk[];
  market: Market;
  enablePublicIp: boolean;
  /** True if SSH keys of the whole account must not open this machine. */
  blockProjectSshKeys: boolean;
  /** The machine's identity at the provider, such as a service account. */
  identity: string | null;
  userLabels: Readonly<Record<string, string>>;
  boot: NodeBoot;
}

/** A node whose machine has been requested. */
export interface NodeRef {
  nodeToken: string;
  attempt: number;
  /** Null until a response of the provider is recorded, unless the driver knows the reference beforehand. */
  providerRef: string | null;
  place: Place;
  acceptedAt: Date | null;
}

/** Provider and decrypted credentials of one call. */
export interface DriverContext {
  endpoint: string | null;
  credentials: Readonly<Record<string, string>>;
  correlationId: string;
  /** Aborts the call when its deadline passes. */
  signal: AbortSignal;
}

/**
 * - `pending`: the provider has accepted the machine, which will run
 * - `stopping`: the machine is being stopped or terminated
 * - `interrupted`: the provider has taken a spot machine back; nothing of it runs, and it does not come back
 * - `failed`: the machine does not run, though nobody ended it
 * - `gone`: the provider does not list the machine. A machine that has just been accepted may still appear, so the caller
 *   decides what that means.
 */
export type ProviderNodeState = 'pending' | 'running' | 'stopping' | 'stopped' | 'interrupted' | 'failed' | 'gone';

export interface ProviderNode {
  /** Only the token is known of a node that is gone. */
  labels: OwnershipLabels;
  /** The provider's id of the machine; opaque. */
  providerRef: string;
  state: ProviderNodeState;
  privateIp: string | null;
  publicIp: string | null;
  createdAt: Date | null;
  /** The provider's reason, if the node failed or was interrupted. */
  fault: ComputeDriverError | null;
}

/**
 * - `throttled`: the provider gets too many calls; the same call may succeed later
 * - `transient`: the same call may succeed if it is repeated
 * - `capacity`: the provider has no such machine free in the zone or region
 * - `quota`: the call would exceed a limit of the customer's account
 * - `denied`: the credentials do not allow the call
 * - `invalid`: the request never succeeds unless it is changed
 */
export type FaultKind = 'throttled' | 'transient' | 'capacity' | 'quota' | 'denied' | 'invalid';

/** The machines that a fault affects: those of a zone, of a region or of the whole account. */
export type FaultScope = 'zone' | 'region' | 'account';

interface FaultOptions {
  kind: FaultKind;
  /** The account if absent. */
  scope?: FaultScope;
  retryAfterMs?: number | null;
  cause?: unknown;
}

/** Error of a driver call. Users read the message: it has the provider's words or names the cause, and contains no secret. */
export class ComputeDriverError extends Error {
  readonly kind: FaultKind;
  readonly scope: FaultScope;
  /** Pause that the provider requests, milliseconds; null if it requests none. */
  readonly retryAfterMs: number | null;

  constructor(
    readonly code: string,
    message: string,
    { kind, scope = 'account', retryAfterMs = null, cause }: FaultOptions,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ComputeDriverError';
    this.kind = kind;
    this.scope = scope;
    this.retryAfterMs = retryAfterMs;
  }

  /** True if the same call may succeed later. */
  get retryable(): boolean {
    return this.kind === 'throttled' || this.kind === 'transient';
  }
}

/** Pause before a call that only another worker can make is tried again, milliseconds. */
const ELSEWHERE_RETRY_MS = 2_000;

/** Only another worker can reach the machine; this worker can neither inspect nor change it. */
export class ElsewhereError extends ComputeDriverError {
  constructor(message: string) {
    super('LOCAL.ELSEWHERE', message, { kind: 'transient', retryAfterMs: ELSEWHERE_RETRY_MS });
    this.name = 'ElsewhereError';
  }
}

/** The machines of one installation at one place. */
export interface OwnedScope {
  installationId: string;
  place: Place;
}

export interface SweepScope extends OwnedScope {
  /** Resources created later are kept, because they may belong to a node that is being created. */
  olderThan: Date;
  /** Returns those of the tokens that belong to live nodes. A driver calls it after it has listed the machines. */
  liveAmong(nodeTokens: readonly string[]): Promise<ReadonlySet<string>>;
}

export interface SweepResult {
  /** Tokens of the nodes whose machine or leftovers have been removed or are being removed. */
  removed: string[];
  failed: { nodeToken: string; error: unknown }[];
}

/**
 * Creates and destroys nodes at one provider. Every method may be repeated at any time. A method returns once the provider
 * has accepted the request; the caller checks later whether it is done. A driver does not retry a failed call, because its
 * caller does so within its own deadline.
 */
export interface ComputeDriver {
  readonly name: string;
  /**
   * Creates the node, or returns the machine that an earlier call for the same token and attempt created. Throws a
   * transient error while the machine of another attempt exists. The agent starts with the machine.
   */
  provision(spec: NodeSpec, context: DriverContext): Promise<ProviderNode>;
  /** Returns the state of each node at the provider, in the order of the references. */
  describe(refs: readonly NodeRef[], context: DriverContext): Promise<ProviderNode[]>;
  /** True if a machine of this kind can be stopped and started again with its disk. */
  canStop(machine: { market: Market; type: string }): boolean;
  /** Ends the processes and keeps the disk. The caller repeats the call while it returns `stopping`. */
  stop(ref: NodeRef, context: DriverContext): Promise<'stopped' | 'stopping'>;
  /** Starts a stopped node with its disk. Also starts the agent again if it died. */
  start(ref: NodeRef, context: DriverContext): Promise<ProviderNode>;
  /** Ends the processes and removes all resources of the node, of all attempts. The caller repeats the call while it returns `going`. */
  destroy(ref: Pick<NodeRef, 'nodeToken' | 'place'>, context: DriverContext): Promise<'gone' | 'going'>;
  /** Lists every node with the labels of the installation. */
  listOwned(scope: OwnedScope, context: DriverContext): Promise<ProviderNode[]>;
  /** Removes machines and leftovers, such as disks, that belong to no live node. */
  sweep(scope: SweepScope, context: DriverContext): Promise<SweepResult>;
  /**
   * Returns the zones in which the place's network has subnets, whatever the zone of the place. Absent if networks span all
   * zones of their region.
   */
  zones?(place: Place, context: DriverContext): Promise<string[]>;
  /** Operations of a driver that runs on the machine of its nodes. */
  readonly onSite?: OnSite;
}

/** Operations that only a driver on the machine of its nodes has. */
export interface OnSite {
  /** Returns the reference that a node's machine will have. It names the folder of nodes and is known before the node is created. */
  reference(nodeToken: string): Promise<string>;
  /**
   * Throws an {@link ElsewhereError} if one of these references belongs to another worker's machine. Must be called before any
   * other call for a cluster, because the driver's other calls report such machines as gone.
   */
  assertHere(references: readonly string[]): Promise<void>;
  /**
   * Lists tokens of nodes that went down by themselves. It is cheap enough to be called once a second, and may miss some
   * nodes that are down.
   */
  listDownNodes(): Promise<string[]>;
  /** Starts a node that went down by itself. Does nothing if the node has been stopped or destroyed meanwhile. */
  revive(ref: NodeRef, context: DriverContext): Promise<void>;
}

/** Returns the description of a node whose machine the provider does not list. */
export function goneNode(nodeToken: string): ProviderNode {
  return {
    labels: { installationId: '', tenantId: '', clusterId: '', nodeToken },
    ...{ providerRef: '', state: 'gone', privateIp: null, publicIp: null, createdAt: null, fault: null },
  };
}
