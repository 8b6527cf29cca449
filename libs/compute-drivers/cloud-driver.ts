import type { MetadataKind } from '../node-agent/interruption';
import type { OutboundPolicy } from '../outbound-policy/outbound-policy';
import type { NodeSpec, OwnershipLabels } from './compute-driver';

/**
 * Returns the script that turns a machine into the node of the spec. It is the same for the same spec, and holds one
 * secret, the bootstrap token.
 * @param notice metadata service that announces the interruption of a spot machine; null if there is none
 * @throws ComputeDriverError of kind `invalid` if nodes cannot be as the spec requests, such as for its Spark version
 */
export type BootScript = (spec: NodeSpec, notice: MetadataKind | null) => string;

/** Options of every driver whose machines boot by a script. */
export interface CloudDriverOptions {
  bootScript: BootScript;
  outbound: OutboundPolicy;
  /** A private endpoint, or that of another cloud of the same kind; null for the provider's public endpoint. */
  endpoint: string | null;
}

/** Keys of the labels that name the owner of a machine if it can have all four. All providers accept them and their values. */
const KEYS = {
  installation: 'platform_installation',
  /** `<tenant id>_<cluster id>` */
  cluster: 'platform_cluster',
  node: 'platform_node',
  attempt: 'platform_attempt',
} as const;

export const INSTALLATION_LABEL = KEYS.installation;
export const NODE_LABEL = KEYS.node;

/** Keys of the labels that the platform adds to those of the cluster. */
export const OWNERSHIP_LABELS: readonly string[] = Object.values(KEYS);

/**
 * Key of the reserved label that names the owner of a machine whose provider does not allow four more labels. In the API the
 * label has the same value for all machines, so no information of the cluster is lost (ADR 0058).
 */
export const MACHINE_LABEL = 'vm';

/** The owner of a machine, and the attempt of its node. */
export type Owner = OwnershipLabels & { attempt: number };

/**
 * Returns all labels of a machine: those that name its owner, and those of its cluster, which cannot replace the owner. If
 * both do not fit, the value of {@link MACHINE_LABEL} names the owner. The labels are the same for every try of an attempt.
 * @param maxLabels the provider's limit
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

/** Returns the value of {@link MACHINE_LABEL}, with the wildcard `*` for each absent part. */
export function ownerLabelValue(owner: Partial<Owner>): string {
  const { installationId = '*', tenantId = '*', clusterId = '*', nodeToken = '*', attempt = '*' } = owner;
  return `platform/${installationId}/${tenantId}/${clusterId}/${nodeToken}/${attempt}`;
}

/** Reads the owner from the labels of a machine, in either form; null if the machine belongs to no installation. */
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
