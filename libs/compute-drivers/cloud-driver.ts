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

/** Keys of the labels that name the owner of a machine if there is room for all four. All providers accept them and their values. */
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

/**
 * Key of the reserved label that names the owner of a machine if its provider has no room for four more. In the API it has the
 * same value for all machines, so no information of the cluster is lost (ADR 0058).
 */
export const MACHINE_LABEL = 'vm';

/** The owner of a machine, and which of its node's machines it is. */
export type Owner = OwnershipLabels & { attempt: number };

/**
 * All labels of a machine: its owner, and the labels of its cluster, which cannot replace the owner. If both do not fit, the
 * value of {@link MACHINE_LABEL} names the owner. Every call for the same attempt returns the same.
 * @param maxLabels how many labels the provider allows
 */
export function machineLabels({ labels, attempt, userLabels }: NodeSpec, maxLabels = Infinity): Record<string, string> {
  const own = Object.entries(userLabels).filter(([key]) => !OWNERSHIP_LABELS.includes(key));
  if (own.length + OWNERSHIP_LABELS.length > maxLabels)
    return Object.fromEntries([...own, [MACHINE_LABEL, ownerLabelValue({ ...labels, attempt })]]);
  return {
    ...Object.fromEntries(own),
    [KEYS.installation]: labels.installationId,
    [KEYS.cluster]: `${labels.tenantId}_${labels.clusterId}`,
    [KEYS.node]: labels.nodeToken,
    [KEYS.attempt]: String(attempt),
  };
}

/** The value of {@link MACHINE_LABEL}, with the wildcard `*` for each part that is not given. */
export function ownerLabelValue(owner: Partial<Owner>): string {
  const { installationId = '*', tenantId = '*', clusterId = '*', nodeToken = '*', attempt = '*' } = owner;
  return `platform/${installationId}/${tenantId}/${clusterId}/${nodeToken}/${attempt}`;
}

/** Reads the owner from the labels of a machine, in either form; null if it belongs to no installation. */
export function ownerOf(labels: Readonly<Record<string, string | undefined>>): Owner | null {
  const [, tenantId, clusterId] = /^(.*)_([^_]*)$/.exec(labels[KEYS.cluster] ?? '') ?? [];
  const separate = [labels[KEYS.installation], tenantId, clusterId, labels[KEYS.node], labels[KEYS.attempt]];
  return (
    ownerFromParts(separate) ??
    ownerFromParts(
      /^platform((?:\/[^/]+){5})$/
        .exec(labels[MACHINE_LABEL] ?? '')?.[1]
        ?.split('/')
        .slice(1),
    )
  );
}

function ownerFromParts(parts: readonly (string | undefined)[] = []): Owner | null {
  const [installationId, tenantId, clusterId, nodeToken, number] = parts;
  const attempt = Number(number);
  if (!installationId || !nodeToken || tenantId === undefined || clusterId === undefined) return null;
  if (!Number.isSafeInteger(attempt) || attempt < 1) return null;
  return { installationId, tenantId, clusterId, nodeToken, attempt };
}
