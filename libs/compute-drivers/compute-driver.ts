import type { AcceleratorKind } from '../contracts/agent-protocol';
import type { Place } from './place';

/**
 * Labels every driver puts on what it creates, so that a retry finds the work of the first try and orphans can be
 * found.
 */
export interface OwnershipLabels {
  /** Several installations may share an account or a machine; each accounts for its own nodes only. */
  installationId: string;
  tenantId: string;
  clusterId: string;
  /** Idempotency token of the node; unique over all nodes ever created. */
  nodeToken: string;
}

/** A disk of a node besides the one it boots from; null where its type decides. */
export interface NodeDisk {
  gib: number;
  /** The provider's own name, such as `gp3`. */
  type: string;
  iops: number | null;
  /** MB/s */
  throughputMb: number | null;
  encrypted: boolean;
}

/** The machine in terms every provider has. */
export interface NodeMachine {
  /** The provider's own name of its type. */
  type: string;
  architecture: string;
  cores: number;
  /** MiB */
  memoryMb: number;
  gpu: { model: string; count: number } | null;
}

/** How the machine is bought: at the usual price, or cheaper and until the provider wants it back. */
export type Market = 'on-demand' | 'spot';

/** What the node needs to become one: from this alone, a driver whose machines boot by a script makes that script. */
export interface NodeBoot {
  sparkVersion: string;
  /** What speeds up the queries of its cluster, for which the node must have the jar; null or absent for nothing. */
  accelerator?: AcceleratorKind | null;
  /** Where the agent reaches the control plane, such as `http://127.0.0.1:8080`. */
  agentApiUrl: string;
  /** One-time token the agent exchanges for its own; the same for every try of an attempt. */
  bootstrapToken: string;
}

/**
 * What to make. A repetition for the same attempt gives the same values, so that a driver may send the same bytes: some
 * providers refuse a repeated request that differs.
 */
export interface NodeSpec {
  labels: OwnershipLabels;
  nodeNumber: number;
  /** From 1. Another one is another machine, made once that of the attempt before is gone. */
  attempt: number;
  place: Place;
  machine: NodeMachine;
  /** The provider's own name of what the machine boots from. */
  image: string;
  /** The local driver does not need them: its nodes are folders of its machine. */
  disks: readonly NodeDisk[];
  market: Market;
  enablePublicIp: boolean;
  /** Whether keys that open every machine of the account are kept from this one. */
  blockProjectSshKeys: boolean;
  /** Identity at the provider that the machine has, such as a service account. */
  identity: string | null;
  userLabels: Readonly<Record<string, string>>;
  boot: NodeBoot;
}

/** A node that was asked for. */
export interface NodeRef {
  nodeToken: string;
  attempt: number;
  /** Null until an answer of its provider is recorded, unless its driver knows the reference beforehand. */
  providerRef: string | null;
  place: Place;
  acceptedAt: Date | null;
}

/** Provider and decrypted credentials for the length of one call. */
export interface DriverContext {
  endpoint: string | null;
  credentials: Readonly<Record<string, string>>;
  correlationId: string;
  /** Aborts the call when its deadline passes. */
  signal: AbortSignal;
}

/**
 * - `pending`: accepted; it will run
 * - `stopping`: on its way to `stopped`, or to its end
 * - `interrupted`: the provider has taken a spot machine back; nothing of it runs, and it does not come back
 * - `failed`: it does not run, though nobody ended it
 * - `gone`: the provider does not show it. One that has just been accepted may yet appear; what that means is the
 *   caller's decision.
 */
export type ProviderNodeState = 'pending' | 'running' | 'stopping' | 'stopped' | 'interrupted' | 'failed' | 'gone';

export interface ProviderNode {
  /** Of one that is gone, only the token is known. */
  labels: OwnershipLabels;
  /** The provider's own name of the machine; opaque. */
  providerRef: string;
  state: ProviderNodeState;
  privateIp: string | null;
  publicIp: string | null;
  createdAt: Date | null;
  /** What the provider says about a node that failed or was interrupted. */
  fault: ComputeDriverError | null;
}

/**
 * - `throttled`: too many calls; the same one may be made later
 * - `transient`: the same call may succeed by itself
 * - `capacity`: the provider has no such machine at this place now
 * - `quota`: a limit of the customer's account
 * - `denied`: the credentials do not allow it
 * - `invalid`: the request will never succeed as it is
 */
export type FaultKind = 'throttled' | 'transient' | 'capacity' | 'quota' | 'denied' | 'invalid';

/** How far a fault reaches. */
export type FaultScope = 'zone' | 'region' | 'account';

interface FaultOptions {
  kind: FaultKind;
  /** The account unless stated. */
  scope?: FaultScope;
  retryAfterMs?: number | null;
  cause?: unknown;
}

/** Error of a driver call. The message is what the provider says; it names the cause and contains no secret. */
export class ComputeDriverError extends Error {
  readonly kind: FaultKind;
  readonly scope: FaultScope;
  /** How long the provider asks to wait, milliseconds; null where it does not say. */
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

  /** Whether the same call may succeed later. */
  get retryable(): boolean {
    return this.kind === 'throttled' || this.kind === 'transient';
  }
}

/** When work that was left to another worker is retried, milliseconds. */
const ELSEWHERE_RETRY_MS = 2_000;

/** Only another worker can reach the machine: this one can neither inspect nor change it. */
export class ElsewhereError extends ComputeDriverError {
  constructor(message: string) {
    super('LOCAL.ELSEWHERE', message, { kind: 'transient', retryAfterMs: ELSEWHERE_RETRY_MS });
    this.name = 'ElsewhereError';
  }
}

/** The machines of one installation that one set of credentials reaches at a place. */
export interface OwnedScope {
  installationId: string;
  place: Place;
}

export interface SweepScope extends OwnedScope {
  /** What was created later may belong to a node that is just being made. */
  olderThan: Date;
  /** Which of these tokens belong to nodes that are wanted; asked after the machines were listed. */
  liveAmong(nodeTokens: readonly string[]): Promise<ReadonlySet<string>>;
}

export interface SweepResult {
  /** Tokens of the nodes whose machine, or what was left of it, has been removed, or is on its way to be. */
  removed: string[];
  failed: { nodeToken: string; error: unknown }[];
}

/**
 * Creates and destroys nodes at one provider. Every method may be repeated at any time. None waits for the provider to
 * finish: it returns once the provider has accepted the request, and the caller looks again later. None repeats a call
 * that failed, since its caller does, with its own deadline.
 */
export interface ComputeDriver {
  readonly name: string;
  /**
   * Creates the node, or finds the machine that an earlier call for the same token and attempt created. While the
   * machine of another attempt exists, it throws a transient error. The agent starts when the machine does.
   */
  provision(spec: NodeSpec, context: DriverContext): Promise<ProviderNode>;
  /** What the provider shows of each node, in the order of the references. */
  describe(refs: readonly NodeRef[], context: DriverContext): Promise<ProviderNode[]>;
  /** Whether such a machine can be stopped, and comes back with its disk. */
  canStop(machine: { market: Market; type: string }): boolean;
  /** Ends the processes and keeps the disk. `stopping` means: look again. */
  stop(ref: NodeRef, context: DriverContext): Promise<'stopped' | 'stopping'>;
  /** Brings a stopped node back with its disk; also revives the agent of a node whose agent died. */
  start(ref: NodeRef, context: DriverContext): Promise<ProviderNode>;
  /** Ends the processes and removes everything the node had, whatever its attempt. `going` means: look again. */
  destroy(ref: Pick<NodeRef, 'nodeToken' | 'place'>, context: DriverContext): Promise<'gone' | 'going'>;
  /** Every node with the labels of the installation, whoever believes they own it. */
  listOwned(scope: OwnedScope, context: DriverContext): Promise<ProviderNode[]>;
  /** Removes what no wanted node has: machines, and what was left of others, such as disks. */
  sweep(scope: SweepScope, context: DriverContext): Promise<SweepResult>;
  /**
   * Of a driver whose networks are not in every zone of their region: names of the zones that machines of this place could be
   * in, whatever its own zone.
   */
  zones?(place: Place, context: DriverContext): Promise<string[]>;
  /** Of a driver that can do more than look because it is where its nodes are. */
  readonly onSite?: OnSite;
}

/** What only a driver on the machine of its nodes can do. */
export interface OnSite {
  /** The reference that a node's machine will have. It names the place of the machine, and is known before the machine is made. */
  reference(nodeToken: string): Promise<string>;
  /**
   * Throws an {@link ElsewhereError} if one of these references belongs to a machine elsewhere. Must be called before any other
   * call for a cluster, whose machines are all in one place: the driver's other calls cannot see machines elsewhere.
   */
  assertHere(references: readonly string[]): Promise<void>;
  /**
   * Tokens of nodes that went down by themselves: cheap enough for once a second. Not every node that is down is among
   * them.
   */
  listDownNodes(): Promise<string[]>;
  /** Starts a node again that went down by itself. Does nothing to one that has been stopped or destroyed meanwhile. */
  revive(ref: NodeRef, context: DriverContext): Promise<void>;
}

/** What a driver says of a node whose machine its provider does not show. */
export function goneNode(nodeToken: string): ProviderNode {
  return {
    labels: { installationId: '', tenantId: '', clusterId: '', nodeToken },
    ...{ providerRef: '', state: 'gone', privateIp: null, publicIp: null, createdAt: null, fault: null },
  };
}
