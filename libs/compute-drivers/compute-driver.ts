/**
 * Labels every driver puts on what it creates, so that a retry finds the work of the first try and orphans can be
 * found.
 */
export interface OwnershipLabels {
  clusterId: string;
  tenantId: string;
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

/** What to make, in terms every provider has. Sizes in GiB and MiB as named. */
export interface NodeSpec {
  labels: OwnershipLabels;
  nodeNumber: number;
  machineType: string;
  cores: number;
  memoryMb: number;
  /** The local driver does not need them: its nodes are folders of its machine. */
  disks: readonly NodeDisk[];
  sparkVersion: string;
  userLabels: Record<string, string>;
  isSpot: boolean;
  enablePublicIp: boolean;
  /** Where the agent reaches the control plane, such as `http://127.0.0.1:8080`. */
  agentApiUrl: string;
  /** One-time token the agent exchanges for its own. */
  bootstrapToken: string;
}

/** Provider, place and decrypted credentials for the length of one call. */
export interface DriverContext {
  endpoint: string | null;
  credentials: Readonly<Record<string, string>>;
  correlationId: string;
  /** Aborts the call when its deadline passes. */
  signal: AbortSignal;
}

export type ProviderNodeState = 'running' | 'stopped' | 'failed' | 'gone';

export interface ProviderNode {
  labels: OwnershipLabels;
  /** The provider's own name of the machine; opaque. */
  providerRef: string;
  state: ProviderNodeState;
  ipAddress: string | null;
  /** What the provider says about a failed node. */
  detail: string | null;
}

/**
 * Error of a driver call. `retryable` says whether the same call may succeed later; the message names the cause and
 * contains no secret.
 */
export class ComputeDriverError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly retryable: boolean,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'ComputeDriverError';
  }
}

/**
 * Creates and destroys nodes at one provider. Every method may be repeated at any time: `provision` with the same token
 * returns the node that the first call created; `stop`, `start` and `destroy` do nothing if the node is already in that
 * state.
 */
export interface ComputeDriver {
  readonly name: string;
  /** Creates the node and starts its agent; returns once the provider has accepted it, not once the agent is up. */
  provision(spec: NodeSpec, context: DriverContext): Promise<ProviderNode>;
  /** State of each given node, `gone` for one that the provider does not know. */
  describe(nodeTokens: string[], context: DriverContext): Promise<ProviderNode[]>;
  /** Ends the processes and keeps the disk. */
  stop(nodeToken: string, context: DriverContext): Promise<void>;
  /** Brings a stopped node back with its disk; also revives the agent of a node whose agent died. */
  start(nodeToken: string, context: DriverContext): Promise<ProviderNode>;
  /** Starts a node again that went down by itself. Does nothing to one that has been stopped or destroyed meanwhile. */
  revive(nodeToken: string, context: DriverContext): Promise<void>;
  /** Ends the processes and removes everything the node had. */
  destroy(nodeToken: string, context: DriverContext): Promise<void>;
  /** Every node that carries our ownership labels, whoever believes they own it. */
  listOwned(context: DriverContext): Promise<ProviderNode[]>;
  /**
   * Tokens of nodes that went down by themselves, where the driver can tell without asking a provider: cheap enough for
   * once a second. Not every node that is down is among them.
   */
  downed(): Promise<string[]>;
}
