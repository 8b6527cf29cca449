import type { MetadataKind } from '../node-agent/interruption';
import type { OutboundPolicy } from '../outbound-policy/outbound-policy';
import type { NodeSpec, OwnershipLabels } from './compute-driver';

/**
 * Makes the script that turns a machine into a node of the spec, and the same one each time. It holds one secret, the
 * bootstrap token.
 * @param notice where a spot machine finds the announcement that it is taken back; null where there is none to look at
 * @throws ComputeDriverError of kind `invalid` where nodes cannot have what the spec asks for, such as its Spark version
 */
export type BootScript = (spec: NodeSpec, notice: MetadataKind | null) => string;

/** What every driver of machines that boot by a script is given. */
export interface CloudDriverOptions {
  bootScript: BootScript;
  /** Which addresses may be called. */
  outbound: OutboundPolicy;
  /** Where the provider answers, if not where it usually does: a private endpoint, or another cloud of the same kind. */
  endpoint: string | null;
}

/** Keys of the labels that say whose a machine is. All providers accept them and their values as they are. */
const KEYS = {
  installation: 'platform_installation',
  /** `<tenant id>_<cluster id>` */
  cluster: 'platform_cluster',
  node: 'platform_node',
  attempt: 'platform_attempt',
} as const;

/** Key of the label that is the same for all machines of an installation. */
export const INSTALLATION_LABEL = KEYS.installation;
/** Key of the label that is the same for all machines of a node. */
export const NODE_LABEL = KEYS.node;

/** Keys of the labels that machines have besides those of their cluster. */
export const OWNERSHIP_LABELS: readonly string[] = Object.values(KEYS);

/** All labels of a machine: whose it is, and those of its cluster, which cannot replace them. */
export function machineLabels({ labels, attempt, userLabels }: NodeSpec): Record<string, string> {
  return {
    ...userLabels,
    [KEYS.installation]: labels.installationId,
    [KEYS.cluster]: `${labels.tenantId}_${labels.clusterId}`,
    [KEYS.node]: labels.nodeToken,
    [KEYS.attempt]: String(attempt),
  };
}

/** Whose a machine with these labels is; null for one that is no installation's. */
export function ownerOf(
  labels: Readonly<Record<string, string | undefined>>,
): (OwnershipLabels & { attempt: number }) | null {
  const [installationId, nodeToken] = [labels[KEYS.installation], labels[KEYS.node]];
  const [, tenantId, clusterId] = /^(.*)_([^_]*)$/.exec(labels[KEYS.cluster] ?? '') ?? [];
  const attempt = Number(labels[KEYS.attempt]);
  if (!installationId || !nodeToken || tenantId === undefined || clusterId === undefined) return null;
  if (!Number.isSafeInteger(attempt) || attempt < 1) return null;
  return { installationId, tenantId, clusterId, nodeToken, attempt };
}
